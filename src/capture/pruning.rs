//! The job that prunes the journal: step by step, so that turns are written in between.

use jiff::Timestamp;

use super::{
    journal::{self, Pruned},
    work::{EMBED_REST, JobError, Workbench},
};

impl Workbench {
    /// Removes what was learnt and is old, and dead jobs that are old. Never given
    /// up, since it comes again by itself.
    pub(super) async fn prune(&self) -> Result<(), JobError> {
        let pruned = self.prune_all().await.map_err(|error| {
            tracing::debug!(%error, "the journal cannot be pruned now");
            JobError::NotNow(EMBED_REST)
        })?;
        if pruned != Pruned::default() {
            let Pruned { turns, sessions, dead_jobs } = pruned;
            tracing::info!(turns, sessions, dead_jobs, "The journal was pruned");
        }
        Ok(())
    }

    async fn prune_all(&self) -> Result<Pruned, crate::sqlite::DatabaseError> {
        let (retention, now) = (self.live.get().retention, Timestamp::now());
        let mut pruned = Pruned::default();
        // Dead jobs first: they hold turns.
        let mut more = true;
        while more {
            let step = move |c: &_| journal::prune_dead_jobs(c, &retention, now);
            let (removed, goes_on) = self.journal.write(step).await?;
            (pruned, more) = (pruned.and(removed), goes_on);
        }
        let mut after = Some(0);
        while let Some(turn) = after {
            let step = move |c: &_| journal::prune_turns(c, &retention, turn, now);
            let (removed, next) = self.journal.write(step).await?;
            self.keeper.metrics.pruned(removed.turns);
            (pruned, after) = (pruned.and(removed), next);
        }
        if pruned != Pruned::default() {
            self.journal.wipe().await?;
        }
        Ok(pruned)
    }
}
