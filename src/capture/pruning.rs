//! The job that prunes the journal: step by step, so that turns are written in between.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    journal::{self, Pruned},
    work::{EMBED_REST, JobError, Workbench},
};

/// Old turns that are held, and nothing to remove among them: so many are not looked at again soon.
const MANY_HELD: u64 = 5_000;

/// The pause after so many.
const LONG_REST: Duration = Duration::from_secs(600);

impl Workbench {
    /// Removes what was learnt and is old, and dead jobs that are old. Never given
    /// up, since it comes again by itself.
    pub(super) async fn prune(&self) -> Result<(), JobError> {
        let (pruned, old) = self.prune_all().await.map_err(|error| {
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
    async fn prune_all(&self) -> Result<(Pruned, u64), crate::sqlite::DatabaseError> {
        let (retention, now) = (self.live.get().retention, Timestamp::now());
        let (mut pruned, mut old) = (Pruned::default(), 0);
        // Dead jobs first: they hold turns.
        let mut more = true;
        while more {
            let step = move |c: &_| journal::prune_dead_jobs(c, &retention, now);
            let (removed, goes_on) = self.journal.write(step).await?;
            (pruned, more) = (pruned.and(removed), goes_on);
        }
        let mut after = Some(0);
        while let Some(turn) = after {
            let look = move |c: &_| journal::look_for_old_turns(c, &retention, turn, now);
            let found = self.journal.read(look).await?;
            (after, old) = (found.next, old + found.old);
            if found.due.is_empty() {
                continue;
            }
            let step = move |c: &_| journal::prune_turns(c, &retention, &found.due, now);
            let removed = self.journal.write(step).await?;
            self.keeper.metrics.pruned(removed.turns);
            pruned = pruned.and(removed);
        }
        if pruned != Pruned::default() {
            self.journal.wipe().await?;
        }
        Ok((pruned, old))
    }
}
