//! Forgetting by a sentence, with a grace period: the named memories are hidden at once (status `forgotten`) and erased
//! when the grace period ends. Until then the request can be undone. The turns they came from are erased at once, because
//! their pending jobs would recreate the memories; undoing restores memories, not turns.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    error::JobError,
    forget::{
        cascade::forget_origins,
        matcher::Matches,
        summaries::{forget_summaries, summaries_of},
    },
    journal::{self, Hidden},
    parts::Parts,
};
use memgate_core::memory::{Actor, Memory, MemoryId, Owner, Status, StoreError, Write};

/// Attempts to change a status when another writer changed the memory first.
const TRIES: usize = 3;

/// Hides the named memories and schedules their erasure. Safe to run again after a failure. Returns how many memories
/// this request hides.
pub(crate) async fn hide(
    parts: &Parts,
    subject: i64,
    owner: &Owner,
    matches: Matches,
    grace: Duration,
) -> Result<u64, JobError> {
    let turns = parts.journal.to_forget(owner, &matches.origins.turns).await?;
    parts.exchanges.forget_turns(turns);
    let ids = to_hide(parts, owner, &matches).await?;
    // Record the previous status before changing it: a second run would only see `forgotten`.
    let before = parts.journal.read(move |c| journal::hidden_for(c, subject)).await?;
    let hidden = with_status(parts, owner, ids, before, &matches).await?;
    let (of, kept, now) = (owner.clone(), hidden.clone(), parts.journal.now());
    let due = now.checked_add(grace).unwrap_or(Timestamp::MAX);
    parts.journal.write(move |c| journal::erase_later(c, subject, &of, &kept, (due, now))).await?;
    let write = Write::by(Actor::Capture, "asked to forget");
    for id in hidden.memories.keys() {
        set_status(parts, owner, id, &write, |_| Some(Status::Forgotten)).await?;
    }
    let turns = matches.origins.turns.iter().cloned().collect();
    parts.journal.forget_all(owner.clone(), turns).await?;
    Ok(hidden.memories.len() as u64)
}

/// The named memories, the turn memories they came from, and the summaries of those sessions.
async fn to_hide(
    parts: &Parts,
    owner: &Owner,
    matches: &Matches,
) -> Result<BTreeSet<MemoryId>, StoreError> {
    let mut ids: BTreeSet<MemoryId> = matches.memories.iter().cloned().collect();
    ids.extend(matches.origins.memories().cloned());
    for session in matches.origins.sessions().keys() {
        ids.extend(summaries_of(parts, owner, session).await?);
    }
    Ok(ids)
}

/// All memories that this request hides, each with its previous status.
async fn with_status(
    parts: &Parts,
    owner: &Owner,
    ids: BTreeSet<MemoryId>,
    mut hidden: Hidden,
    matches: &Matches,
) -> Result<Hidden, StoreError> {
    for id in ids {
        match parts.writer.store.get(owner, &id, parts.journal.now()).await {
            // Already hidden: by an earlier run, or by another request that will erase it.
            Ok(memory) if memory.status == Status::Forgotten => {}
            Ok(memory) => {
                hidden.memories.insert(id, memory.status);
            }
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    hidden.histories.extend(matches.histories.iter().cloned());
    hidden.histories.sort_unstable();
    hidden.histories.dedup();
    for (session, for_good) in matches.origins.sessions() {
        *hidden.sessions.entry(session.clone()).or_default() |= *for_good;
    }
    Ok(hidden)
}

/// Erases the memories that are still hidden when the grace period ends, with history and vectors.
pub(crate) async fn erase(parts: &Parts, owner: &Owner, hidden: &Hidden) -> Result<(), JobError> {
    let store = &parts.writer.store;
    let mut gone = Vec::new();
    for id in hidden.memories.keys() {
        match store.get(owner, id, parts.journal.now()).await {
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
    forget_summaries(parts, owner, &hidden.sessions).await?;
    Ok(())
}

/// Erases the named memories at once, where no grace period is configured. Returns how many.
pub(crate) async fn erase_at_once(
    parts: &Parts,
    owner: &Owner,
    matches: &Matches,
) -> Result<u64, JobError> {
    let turns = parts.journal.to_forget(owner, &matches.origins.turns).await?;
    parts.exchanges.forget_turns(turns);
    // First: asked again after a failure, the memories still show where the rest is.
    let mut deleted = forget_origins(parts, owner, &matches.origins).await?;
    let store = &parts.writer.store;
    let write = Write::by(Actor::Capture, "asked to forget");
    deleted += store.forget_all(owner, &matches.memories, &write).await?;
    for id in &matches.histories {
        store.forget_history(owner, id, &write).await?;
    }
    Ok(deleted)
}

/// Gives hidden memories their previous status; returns how many.
pub(crate) async fn restore(
    parts: &Parts,
    owner: &Owner,
    memories: &BTreeMap<MemoryId, Status>,
) -> Result<u64, StoreError> {
    let write = Write::by(Actor::Api, "forgetting undone");
    let mut restored = 0;
    for (id, status) in memories {
        let was = |memory: &Memory| (memory.status == Status::Forgotten).then_some(*status);
        restored += u64::from(set_status(parts, owner, id, &write, was).await?);
    }
    Ok(restored)
}

/// Changes a memory's status; returns whether it changed. A missing memory is skipped.
async fn set_status(
    parts: &Parts,
    owner: &Owner,
    id: &MemoryId,
    write: &Write,
    to: impl Fn(&Memory) -> Option<Status>,
) -> Result<bool, StoreError> {
    let store = &parts.writer.store;
    for attempt in 1.. {
        let now = parts.journal.now();
        let memory = match store.get(owner, id, now).await {
            Ok(memory) => memory,
            Err(StoreError::NotFound) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(status) = to(&memory).filter(|status| *status != memory.status) else {
            return Ok(false);
        };
        match store.update(Memory { status, updated_at: now, ..memory }, None, write).await {
            Ok(_) => return Ok(true),
            Err(StoreError::NotFound) => return Ok(false),
            Err(StoreError::Conflict { .. }) if attempt < TRIES => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
