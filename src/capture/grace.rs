//! Forgetting by a sentence, with a grace period: the named memories are hidden at once (status `forgotten`) and erased
//! when the grace period ends. Until then the request can be undone. The turns they came from are erased at once, because
//! their pending jobs would recreate the memories; undoing restores memories, not turns.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;

use super::{
    Capture,
    journal::{self, ClaimedJob, Forgetting, Hidden, lanes_of},
    keep::now,
    learn::payload,
    says::Named,
    summarise::ForgetError,
    work::{JobError, Workbench},
};
use crate::memory::{Actor, Memory, MemoryId, MemoryStore, Owner, Status, StoreError, Write};

/// Attempts to change a status when another writer changed the memory first.
const TRIES: usize = 3;

impl Workbench {
    /// Hides the named memories and schedules their erasure. Safe to run again after a failure. Returns how many memories
    /// this request hides.
    pub(super) async fn hide(
        &self,
        job: &ClaimedJob,
        owner: &Owner,
        named: Named,
        grace: Duration,
    ) -> Result<u64, JobError> {
        let turns = self.journal.to_forget(owner, &named.origins.turns).await?;
        self.exchanges.forget_turns(turns);
        let ids = self.to_hide(owner, &named).await?;
        // Record the previous status before changing it: a second run would only see `forgotten`.
        let subject = job.subject;
        let before = self.journal.read(move |c| journal::hidden_for(c, subject)).await?;
        let hidden = self.with_status(owner, ids, before, &named).await?;
        let (of, kept, now) = (owner.clone(), hidden.clone(), now());
        let due = now.checked_add(grace).unwrap_or(Timestamp::MAX);
        self.journal
            .write(move |c| journal::erase_later(c, subject, &of, &kept, (due, now)))
            .await?;
        let write = Write::by(Actor::Capture, "asked to forget");
        for id in hidden.memories.keys() {
            set_status(self.keeper.store.as_ref(), owner, id, &write, |_| Some(Status::Forgotten))
                .await?;
        }
        let turns = named.origins.turns.iter().cloned().collect();
        self.journal.forget_all(owner.clone(), turns).await?;
        Ok(hidden.memories.len() as u64)
    }

    /// The named memories, the turn memories they came from, and the summaries of those sessions.
    async fn to_hide(
        &self,
        owner: &Owner,
        named: &Named,
    ) -> Result<BTreeSet<MemoryId>, StoreError> {
        let mut ids: BTreeSet<MemoryId> = named.memories.iter().cloned().collect();
        ids.extend(named.origins.memories().cloned());
        for session in named.origins.sessions().keys() {
            ids.extend(self.summaries().of_session(owner, session).await?);
        }
        Ok(ids)
    }

    /// All memories that this request hides, each with its previous status.
    async fn with_status(
        &self,
        owner: &Owner,
        ids: BTreeSet<MemoryId>,
        mut hidden: Hidden,
        named: &Named,
    ) -> Result<Hidden, StoreError> {
        for id in ids {
            match self.keeper.store.get(owner, &id, now()).await {
                // Already hidden: by an earlier run, or by another request that will erase it.
                Ok(memory) if memory.status == Status::Forgotten => {}
                Ok(memory) => {
                    hidden.memories.insert(id, memory.status);
                }
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        hidden.histories.extend(named.histories.iter().cloned());
        hidden.histories.sort_unstable();
        hidden.histories.dedup();
        for (session, for_good) in named.origins.sessions() {
            *hidden.sessions.entry(session.clone()).or_default() |= *for_good;
        }
        Ok(hidden)
    }

    /// Runs when the grace period ends: erases the memories that are still hidden, with history and vectors.
    pub(super) async fn erase_forgotten(&self, job: &ClaimedJob) -> Result<(), JobError> {
        let (Some(owner), Some(_)) = (&job.owner, &job.payload) else { return Ok(()) };
        let hidden: Hidden = payload(job)?;
        self.erase(owner, &hidden).await.map_err(JobError::or_retry)
    }

    async fn erase(&self, owner: &Owner, hidden: &Hidden) -> Result<(), JobError> {
        let [_, extractions] = lanes_of(owner);
        let held = self.lanes.hold(&extractions).await;
        let store = &self.keeper.store;
        let mut gone = Vec::new();
        for id in hidden.memories.keys() {
            match store.get(owner, id, now()).await {
                Ok(memory) if memory.status == Status::Forgotten => gone.push(id.clone()),
                // Restored by hand, or erased already.
                Ok(_) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let write = Write::by(Actor::Capture, "grace period ended");
        store.forget_all(owner, &gone, &write).await?;
        for id in &hidden.histories {
            store.forget_history(owner, id, &write).await?;
        }
        self.summaries().forget(owner, &hidden.sessions).await?;
        drop(held);
        Ok(())
    }
}

impl Capture {
    /// The owner's requests to forget that can still be undone, newest first.
    ///
    /// # Errors
    /// [`crate::sqlite::DatabaseError`] when the journal cannot be read.
    pub async fn forgettings(
        &self,
        owner: &Owner,
    ) -> Result<Vec<Forgetting>, crate::sqlite::DatabaseError> {
        let owner = owner.clone();
        self.journal.read(move |c| journal::pending_forgettings(c, &owner)).await
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
        let Some(hidden) = self.journal.read(move |c| journal::hidden_by(c, &of, id)).await? else {
            return Ok(None);
        };
        let restored = restore(self.summaries.store.as_ref(), owner, &hidden.memories).await?;
        self.journal.write(move |c| journal::cancel_forgetting(c, id)).await?;
        drop(held);
        self.wake.notify_one();
        Ok(Some(restored))
    }
}

async fn restore(
    store: &dyn MemoryStore,
    owner: &Owner,
    memories: &BTreeMap<MemoryId, Status>,
) -> Result<u64, StoreError> {
    let write = Write::by(Actor::Api, "forgetting undone");
    let mut restored = 0;
    for (id, status) in memories {
        let was = |memory: &Memory| (memory.status == Status::Forgotten).then_some(*status);
        restored += u64::from(set_status(store, owner, id, &write, was).await?);
    }
    Ok(restored)
}

/// Changes a memory's status; returns whether it changed. A missing memory is skipped.
async fn set_status(
    store: &dyn MemoryStore,
    owner: &Owner,
    id: &MemoryId,
    write: &Write,
    to: impl Fn(&Memory) -> Option<Status>,
) -> Result<bool, StoreError> {
    for attempt in 1.. {
        let memory = match store.get(owner, id, now()).await {
            Ok(memory) => memory,
            Err(StoreError::NotFound) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(status) = to(&memory).filter(|status| *status != memory.status) else {
            return Ok(false);
        };
        match store.update(Memory { status, updated_at: now(), ..memory }, None, write).await {
            Ok(_) => return Ok(true),
            Err(StoreError::NotFound) => return Ok(false),
            Err(StoreError::Conflict { .. }) if attempt < TRIES => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
