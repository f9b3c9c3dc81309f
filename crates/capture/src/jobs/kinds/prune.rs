//! The job that prunes the journal: step by step, so that turns are written in between.

use std::time::Duration;

use crate::{
    backfill::EMBED_REST,
    error::JobError,
    jobs::kinds::sessions,
    journal::{self, Pruned},
    parts::Parts,
};
use memgate_sqlite::DatabaseError;

/// With more old turns than this and none to remove, the next look comes after [`LONG_REST`].
const MANY_HELD: u64 = 5_000;

/// The pause after a look at many old turns.
const LONG_REST: Duration = Duration::from_secs(600);

/// Removes turns that were learned from and are past their retention, old dead jobs, and the sessions without a user whose
/// time is over. It is never given up, because it is scheduled again.
pub(crate) async fn run(parts: &Parts) -> Result<(), JobError> {
    let not_now = |error: &dyn std::fmt::Display| {
        tracing::debug!(%error, "the journal cannot be pruned now");
        JobError::NotNow(EMBED_REST)
    };
    // The journal is pruned also while the store is away.
    let erased = sessions::erase_ended(parts).await;
    let (pruned, old) = prune_all(parts).await.map_err(|error| not_now(&error))?;
    if pruned != Pruned::default() {
        let Pruned { turns, sessions, dead_jobs } = pruned;
        tracing::info!(turns, sessions, dead_jobs, "The journal was pruned");
    } else if old > MANY_HELD {
        return Err(JobError::NotNow(LONG_REST));
    }
    erased.map_err(|error| not_now(&error))
}

/// Prunes turns and jobs. Returns what was removed, and how many old turns were looked at.
async fn prune_all(parts: &Parts) -> Result<(Pruned, u64), DatabaseError> {
    let (retention, now) = (parts.live.get().retention, parts.journal.now());
    let (mut pruned, mut old) = (Pruned::default(), 0);
    // Dead jobs first: they hold turns.
    let mut more = true;
    while more {
        let step = move |c: &_| journal::prune_dead_jobs(c, &retention, now);
        let (removed, goes_on) = parts.journal.write(step).await?;
        (pruned, more) = (pruned.and(removed), goes_on);
    }
    let mut after = Some(0);
    while let Some(turn) = after {
        let look = move |c: &_| journal::look_for_old_turns(c, &retention, turn, now);
        let found = parts.journal.read(look).await?;
        (after, old) = (found.next, old + found.old);
        if found.due.is_empty() {
            continue;
        }
        let step = move |c: &_| journal::prune_turns(c, &retention, &found.due, now);
        let removed = parts.journal.write(step).await?;
        parts.writer.metrics.pruned(removed.turns);
        pruned = pruned.and(removed);
    }
    if pruned != Pruned::default() {
        parts.journal.wipe().await?;
    }
    Ok((pruned, old))
}
