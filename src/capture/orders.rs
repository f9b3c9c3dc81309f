//! The two jobs that do what a user asked of memory itself: remembering and forgetting. Each leads
//! to the same however often it runs.

use std::time::Duration;

use super::{
    extract::explicit,
    journal::{self, ClaimedJob, ForgetOrder, lanes_of},
    learn::{origin, payload},
    reconcile::Origin,
    says::Named,
    work::{JobError, Workbench},
};
use crate::{
    memory::{Actor, Owner, Write},
    signals::Typed,
};

/// The pause while what the same message asks to be forgotten is still there.
const ORDER_PAUSE: Duration = Duration::from_secs(5);

impl Workbench {
    /// Brings what a user asked to be remembered into the store.
    pub(super) async fn remember(&self, job: &ClaimedJob) -> Result<(), JobError> {
        let statements: Vec<String> = payload(job)?;
        let turn = job.subject;
        if self.journal.read(move |c| journal::has_to_forget(c, turn)).await? {
            return Err(JobError::NotNow(ORDER_PAUSE));
        }
        let Some(said) = self.journal.read(move |c| journal::turn(c, turn)).await? else {
            return Ok(());
        };
        let (embedder, models) = (self.keeper.embedder.as_ref(), self.keeper.models.as_ref());
        // Commands are read from typed text alone.
        let typed = Typed::whole(&statements);
        let found = explicit::extract(embedder, models, statements, said.began).await?;
        let origin = Origin { typed, ..origin(&said, explicit::EXTRACTOR) };
        let stored = self.keep_found(&origin, found).await?;
        self.keeper.metrics.command_done("remember", stored);
        Ok(())
    }

    /// Carries out a request to forget: hides the memories that certainly match, to be erased after the grace period.
    pub(super) async fn forget_said(&self, job: &ClaimedJob) -> Result<(), JobError> {
        // Without a payload it was done, and only the settling was missed.
        let (Some(owner), Some(_)) = (&job.owner, &job.payload) else { return Ok(()) };
        let order: ForgetOrder = payload(job)?;
        // Whatever fails from here on may work another time.
        self.carry_out(job, owner, &order).await.map_err(JobError::or_retry)
    }

    async fn carry_out(
        &self,
        job: &ClaimedJob,
        owner: &Owner,
        order: &ForgetOrder,
    ) -> Result<(), JobError> {
        // This job has the owner's one lane; an extraction in the other could bring it back.
        let [_, extractions] = lanes_of(owner);
        let held = self.lanes.hold(&extractions).await;
        let named = self.what_says(owner, job.subject, order).await?;
        let grace = self.live.get().forget_grace;
        if let Some(named) = named {
            let forgotten = if grace.is_zero() {
                self.erase_named(owner, &named).await?
            } else {
                self.hide(job, owner, named, grace).await?
            };
            self.keeper.metrics.command_done("forget", forgotten);
        } else {
            tracing::warn!("A request to forget matches too much, nothing is forgotten");
        }
        self.journal.fulfilled(job.clone()).await?;
        drop(held);
        Ok(())
    }

    /// Erases the matching memories at once, when no grace period is configured. Returns how many.
    async fn erase_named(&self, owner: &Owner, named: &Named) -> Result<u64, JobError> {
        let turns = self.journal.to_forget(owner, &named.origins.turns).await?;
        self.exchanges.forget_turns(turns);
        // First: asked again after a failure, these still tell where the rest is.
        let mut deleted = self.summaries().forget_origins(owner, &named.origins).await?;
        let store = &self.keeper.store;
        let write = Write::by(Actor::Capture, "asked to forget");
        deleted += store.forget_all(owner, &named.memories, &write).await?;
        for id in &named.histories {
            store.forget_history(owner, id, &write).await?;
        }
        Ok(deleted)
    }
}
