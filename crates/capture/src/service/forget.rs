//! Forgetting, as the API asks for it.

use crate::{
    error::ForgetError,
    forget::{Origins, forget_origins, restore},
    journal::{self, Forget, Forgetting, lanes_of},
    lanes::Held,
    service::capture::Capture,
};
use memgate_core::memory::{Memory, Owner};
use memgate_sqlite::DatabaseError;

impl Capture {
    /// Forgets turns and their jobs, including turns that wait for the journal. Returns how many. Of a
    /// scope, exchanges that have begun are not learned from. Call it before the memories are forgotten
    /// in the store: after it, no job writes what came from these turns.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn forget_turns(&self, owner: &Owner, what: Forget) -> Result<u64, DatabaseError> {
        self.parts.exchanges.forget(owner, &what);
        self.parts.exchanges.forget_turns(self.parts.journal.to_forget(owner, [&what]).await?);
        // What was said before it is forgotten is forgotten too.
        self.intake.barrier().await;
        let held = self.hold_lanes(owner).await;
        let forgotten = self.parts.journal.forget(owner.clone(), what).await;
        drop(held);
        // What was stopped may be owed still.
        self.parts.wake.notify_one();
        forgotten
    }

    /// Keeps an owner's jobs from running: one may hold a text that is to be forgotten. Other
    /// users' turns pass meanwhile.
    async fn hold_lanes(&self, owner: &Owner) -> Vec<Held> {
        let mut held = Vec::new();
        for lane in lanes_of(owner) {
            held.push(self.parts.lanes.hold(&lane).await);
        }
        held
    }

    /// Forgets what a memory was made of, given all its versions: the turns that said it, or in which it
    /// was found, and the summaries of their sessions.
    ///
    /// # Errors
    /// [`ForgetError`] when journal or store cannot be written; safe to call again.
    pub async fn forget_sources(&self, versions: &[Memory]) -> Result<(), ForgetError> {
        let Some(owner) = versions.first().map(|version| &version.owner) else { return Ok(()) };
        let origins = Origins::of(versions);
        self.parts
            .exchanges
            .forget_turns(self.parts.journal.to_forget(owner, &origins.turns).await?);
        self.intake.barrier().await;
        let held = self.hold_lanes(owner).await;
        let forgotten = forget_origins(&self.parts, owner, &origins).await;
        drop(held);
        self.parts.wake.notify_one();
        forgotten.map(|_| ())
    }

    /// The owner's requests to forget that can still be undone, newest first.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be read.
    pub async fn forgettings(&self, owner: &Owner) -> Result<Vec<Forgetting>, DatabaseError> {
        let owner = owner.clone();
        self.parts.journal.read(move |c| journal::pending_forgettings(c, &owner)).await
    }

    /// Restores the memories that a request hides; returns how many. `None` when the owner has no such request: it was
    /// carried out or undone already, or belongs to another user.
    ///
    /// # Errors
    /// [`ForgetError`] when the journal or the store fails; safe to call again.
    pub async fn undo_forgetting(
        &self,
        owner: &Owner,
        id: i64,
    ) -> Result<Option<u64>, ForgetError> {
        let held = self.hold_lanes(owner).await;
        let of = owner.clone();
        let Some(hidden) = self.parts.journal.read(move |c| journal::hidden_by(c, &of, id)).await?
        else {
            return Ok(None);
        };
        let restored = restore(&self.parts, owner, &hidden).await?;
        self.parts.journal.write(move |c| journal::cancel_forgetting(c, id)).await?;
        drop(held);
        self.parts.wake.notify_one();
        Ok(Some(restored))
    }
}
