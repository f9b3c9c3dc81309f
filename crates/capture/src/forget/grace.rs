//! Forgetting by a sentence, or by an edit of a message, with a grace period: the named memories are hidden at once (status `forgotten`) and erased
//! when the grace period ends; of one that tells something else, too, only what was named goes. Until then the request can be undone. The turns they came from are erased at once, because
//! their pending jobs would recreate the memories; undoing restores memories, not turns.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;

use crate::{
    backfill::{EMBED_REST, owe_vectors},
    error::{ForgetError, JobError},
    forget::{
        cascade::forget_origins,
        matcher::Matches,
        summaries::{forget_summaries, summaries_of},
    },
    journal::{self, Hidden},
    parts::Parts,
    writer::Written,
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
    reason: &'static str,
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
    let write = Write::by(Actor::Capture, reason);
    for id in hidden.memories.keys() {
        set_status(parts, owner, id, &write, |_| Some(Status::Forgotten)).await?;
    }
    for left in matches.cuts.into_values() {
        replace(parts, left, &write).await?;
    }
    let turns = matches.origins.turns.iter().cloned().collect();
    parts.journal.forget_all(owner.clone(), turns).await?;
    Ok(hidden.count())
}

/// Writes the next version of a memory.
async fn replace(parts: &Parts, next: Memory, write: &Write) -> Result<(), ForgetError> {
    let next = Memory { updated_at: parts.journal.now(), ..next };
    let passages = next.passages();
    if parts.writer.replace(next, passages, write).await?.1 == Written::WithoutVectors {
        owe_vectors(&parts.journal, EMBED_REST).await?;
    }
    Ok(())
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
    for (id, left) in &matches.cuts {
        hidden.cut.entry(id.clone()).or_insert(left.version);
    }
    hidden.histories.extend(matches.histories.iter().chain(matches.cuts.keys()).cloned());
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
    matches: Matches,
    reason: &'static str,
) -> Result<u64, JobError> {
    let turns = parts.journal.to_forget(owner, &matches.origins.turns).await?;
    parts.exchanges.forget_turns(turns);
    // First: asked again after a failure, the memories still show where the rest is.
    let mut deleted = forget_origins(parts, owner, &matches.origins).await?;
    let store = &parts.writer.store;
    let write = Write::by(Actor::Capture, reason);
    deleted += store.forget_all(owner, &matches.memories, &write).await?;
    let shorter: Vec<MemoryId> = matches.cuts.keys().cloned().collect();
    for left in matches.cuts.into_values() {
        replace(parts, left, &write).await?;
    }
    deleted += shorter.len() as u64;
    for id in matches.histories.iter().chain(&shorter) {
        store.forget_history(owner, id, &write).await?;
    }
    Ok(deleted)
}

/// Gives hidden memories their previous status, and those that say less their previous words where nothing has changed them
/// since; returns how many.
pub(crate) async fn restore(
    parts: &Parts,
    owner: &Owner,
    hidden: &Hidden,
) -> Result<u64, ForgetError> {
    let write = Write::by(Actor::Api, "forgetting undone");
    let mut restored = 0;
    for (id, status) in &hidden.memories {
        let was = |memory: &Memory| (memory.status == Status::Forgotten).then_some(*status);
        restored += u64::from(set_status(parts, owner, id, &write, was).await?);
    }
    for (id, version) in &hidden.cut {
        restored += u64::from(restore_words(parts, owner, id, *version, &write).await?);
    }
    Ok(restored)
}

/// Gives a memory the words of an earlier version, where the one after it is the newest; returns whether it did.
async fn restore_words(
    parts: &Parts,
    owner: &Owner,
    id: &MemoryId,
    version: u32,
    write: &Write,
) -> Result<bool, ForgetError> {
    let versions = match parts.writer.store.history(owner, id).await {
        Err(StoreError::NotFound) => return Ok(false),
        found => found?,
    };
    let [newest, before, ..] = &versions[..] else { return Ok(false) };
    if before.version != version {
        return Ok(false);
    }
    let before = Memory { version: newest.version, status: newest.status, ..before.clone() };
    replace(parts, before, write).await?;
    Ok(true)
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
