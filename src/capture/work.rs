//! What the jobs do. Each run may be the second one for the same thing, after
//! a crash or a failure, so each leads to the same memories however often it runs.

use std::{collections::HashSet, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    extract::turns,
    inflight::Exchanges,
    journal::{self, ClaimedJob, JobKind, Journal, Next, Waits},
    keep::{Keeper, Kept, now},
    lanes::Lanes,
    reconcile::still_true,
    settings::Live,
};
use crate::{
    embed::EmbedError,
    memory::{Actor, ScopeQuery, Search, StoreError, Write},
    sqlite::DatabaseError,
};

/// Memories whose vectors are made in one go.
const EMBED_BATCH: usize = 32;

/// Such goes in one run; the rest waits a moment, so that turns come in between.
const EMBED_ROUNDS: usize = 16;

/// The pause between two runs while vectors are missing.
const EMBED_PAUSE: Duration = Duration::from_secs(1);

/// The pause before the end of a session in which an exchange is in flight.
const BUSY_PAUSE: Duration = Duration::from_secs(5);

/// The pause while the embedder or the store fails.
pub(super) const EMBED_REST: Duration = Duration::from_secs(10);

/// Memories that a reply is compared with, for sentences that repeat them.
const REPEATABLE: usize = 10;

/// Why a run did not do its work. The texts hold no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobError {
    /// It cannot be tried now; that is no failed try.
    NotNow(Duration),
    /// What it works with is away, and nothing of the job is to blame: no failed try, for a time.
    Away(String),
    /// It failed; worth at most so many tries.
    Retry { reason: String, tries: u32 },
    /// It would fail for ever.
    Final(String),
}

impl JobError {
    /// A failure that is worth all tries.
    pub(super) fn retry(reason: impl ToString) -> Self {
        Self::Retry { reason: reason.to_string(), tries: u32::MAX }
    }

    /// The same failure of something that is never to be given up.
    pub(super) fn or_retry(self) -> Self {
        match self {
            Self::Final(reason) => Self::retry(reason),
            other => other,
        }
    }
}

impl From<DatabaseError> for JobError {
    fn from(error: DatabaseError) -> Self {
        Self::retry(error)
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Invalid { .. } => Self::Final(error.to_string()),
            StoreError::Unavailable(_) | StoreError::Busy(_) => Self::Away(error.to_string()),
            StoreError::NotFound | StoreError::Exists | StoreError::Conflict { .. } => {
                Self::retry(error)
            }
        }
    }
}

impl From<EmbedError> for JobError {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::Unavailable(_) => Self::Away(error.to_string()),
            _ => Self::retry(error),
        }
    }
}

/// Everything jobs work with.
pub(super) struct Workbench {
    pub(super) journal: Arc<Journal>,
    pub(super) keeper: Keeper,
    pub(super) live: Arc<Live>,
    pub(super) lanes: Arc<Lanes>,
    pub(super) exchanges: Arc<Exchanges>,
}

impl Workbench {
    /// Does a job's work; tells what it leads to.
    pub(super) async fn run(&self, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
        match job.kind {
            JobKind::StoreTurn => self.store_turn(job.subject).await.map(|()| None),
            JobKind::ExtractLocally => self.extract_locally(job.subject).await.map(|()| None),
            JobKind::Remember => self.remember(job).await.map(|()| None),
            JobKind::ForgetSaid => self.forget_said(job).await.map(|()| None),
            JobKind::EraseForgotten => self.erase_forgotten(job).await.map(|()| None),
            JobKind::Extract => self.extract(job).await,
            JobKind::Reconcile => self.reconcile(job).await,
            JobKind::EndIdleSession => self.end_idle(job).await.map(|()| None),
            JobKind::Summarise => self.summarise(job.subject).await.map(|()| None),
            JobKind::Embed => self.embed_missing().await.map(|()| None),
            JobKind::Prune => self.prune().await.map(|()| None),
        }
    }

    /// The memory of a turn. Nothing to do when the turn was forgotten, or is
    /// not worth one.
    async fn store_turn(&self, number: i64) -> Result<(), JobError> {
        let Some(turn) = self.journal.read(move |c| journal::turn(c, number)).await? else {
            return Ok(());
        };
        if !turns::worth_it(&turn) {
            return Ok(());
        }
        let now = now();
        let known = self.remembered(&turn, now).await?;
        let mut episode = turns::episode(&turn, &known, now);
        if let Ok(stored) = self.keeper.store.get(&turn.owner, &turns::id(&turn), now).await {
            episode.memory = still_true(episode.memory, &[stored]);
            episode.parts = turns::parts_of(&episode.memory);
        }
        let write =
            Write { actor: Actor::Capture, reason: "turn", request_id: turn.request_id.clone() };
        match self.keeper.put(episode.memory, episode.parts.clone(), &write).await? {
            Kept::Whole => self.notice_drift(number, &turn, episode.parts).await,
            Kept::WithoutVectors => self.owe_vectors(EMBED_REST).await,
        }
    }

    /// What is remembered already that the turn's reply may repeat.
    async fn remembered(
        &self,
        turn: &journal::StoredTurn,
        now: Timestamp,
    ) -> Result<Vec<String>, JobError> {
        if turn.reply_text.is_empty() {
            return Ok(Vec::new());
        }
        let search = Search {
            scopes: vec![ScopeQuery::of(turn.owner.clone())],
            filter: None,
            vector: None,
            text: Some(turn.reply_text.clone()),
            limit: REPEATABLE,
            now,
        };
        let own = turns::id(turn);
        let found = self.keeper.store.retrieve(&search).await?;
        Ok(found.into_iter().filter(|e| e.memory.id != own).map(|e| e.memory.content).collect())
    }

    async fn end_idle(&self, job: &ClaimedJob) -> Result<(), JobError> {
        let (session, rules, now) = (job.subject, self.live.rules(), Timestamp::now());
        let talking = job.owner.as_ref().map(|owner| self.exchanges.sessions_of(owner));
        let waits = self.journal.write(move |c| {
            journal::end_if_idle(c, session, &talking.unwrap_or_default(), &rules, now)
        });
        match waits.await? {
            None => Ok(()),
            Some(Waits::Until(later)) => {
                Err(JobError::NotNow(later.duration_since(now).try_into().unwrap_or_default()))
            }
            Some(Waits::Busy) => Err(JobError::NotNow(BUSY_PAUSE)),
        }
    }

    /// Vectors for memories that have none: their embedding failed, or the
    /// model has changed. Never given up, since it is about no single memory.
    async fn embed_missing(&self) -> Result<(), JobError> {
        let mut passed_over = HashSet::new();
        for _ in 0..EMBED_ROUNDS {
            match self.keeper.embed_missing(EMBED_BATCH, &mut passed_over).await {
                // All have vectors, or their texts can have none: these are tried again with the
                // next that has none.
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(reason) => {
                    tracing::debug!(reason, "missing vectors cannot be made now");
                    return Err(JobError::NotNow(EMBED_REST));
                }
            }
        }
        Err(JobError::NotNow(EMBED_PAUSE))
    }

    /// Owes the vectors that memories are missing, after a pause.
    pub(super) async fn owe_vectors(&self, pause: Duration) -> Result<(), JobError> {
        let now = Timestamp::now();
        Ok(self.journal.write(move |c| journal::ask_for_vectors(c, now, pause)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_server_that_is_down_costs_a_job_no_try() {
        let down = JobError::from(EmbedError::Unavailable("no connection".into()));
        assert!(matches!(down, JobError::Away(reason) if reason.contains("no connection")));
        let failed = JobError::from(EmbedError::Failed("no direction".into()));
        assert!(matches!(failed, JobError::Retry { .. }));
    }
}
