//! The job that prunes the journal: step by step, so that turns are written in between.

use std::time::Duration;

use crate::{
    error::JobError,
    jobs::{context::JobContext, kinds::embed::EMBED_REST},
    journal::{self, Pruned},
};
use memgate_sqlite::DatabaseError;

/// With more old turns than this and none to remove, the next look comes after [`LONG_REST`].
const MANY_HELD: u64 = 5_000;

/// The pause after a look at many old turns.
const LONG_REST: Duration = Duration::from_secs(600);

/// Removes what was learnt and is old, and dead jobs that are old. Never given
/// up, since it comes again by itself.
pub(crate) async fn run(context: &JobContext) -> Result<(), JobError> {
    let (pruned, old) = prune_all(context).await.map_err(|error| {
        tracing::debug!(%error, "the journal cannot be pruned now");
        JobError::NotNow(EMBED_REST)
    })?;
    if pruned != Pruned::default() {
        let Pruned { turns, sessions, dead_jobs } = pruned;
        tracing::info!(turns, sessions, dead_jobs, "The journal was pruned");
    } else if old > MANY_HELD {
        return Err(JobError::NotNow(LONG_REST));
    }
    Ok(())
}

/// What was removed, and how many old turns were looked at.
async fn prune_all(context: &JobContext) -> Result<(Pruned, u64), DatabaseError> {
    let (retention, now) = (context.live.get().retention, context.journal.now());
    let (mut pruned, mut old) = (Pruned::default(), 0);
    // Dead jobs first: they hold turns.
    let mut more = true;
    while more {
        let step = move |c: &_| journal::prune_dead_jobs(c, &retention, now);
        let (removed, goes_on) = context.journal.write(step).await?;
        (pruned, more) = (pruned.and(removed), goes_on);
    }
    let mut after = Some(0);
    while let Some(turn) = after {
        let look = move |c: &_| journal::look_for_old_turns(c, &retention, turn, now);
        let found = context.journal.read(look).await?;
        (after, old) = (found.next, old + found.old);
        if found.due.is_empty() {
            continue;
        }
        let step = move |c: &_| journal::prune_turns(c, &retention, &found.due, now);
        let removed = context.journal.write(step).await?;
        context.writer.metrics.pruned(removed.turns);
        pruned = pruned.and(removed);
    }
    if pruned != Pruned::default() {
        context.journal.wipe().await?;
    }
    Ok((pruned, old))
}
