//! The two jobs of an extraction: asking the model, and bringing what it found
//! into the store. The first keeps its finds in the journal with the second, so
//! that no answer is asked for twice.

use serde::{Deserialize, Serialize};

use super::{
    extract::{
        candidate::{Candidate, Extractor},
        llm::{self, Answer, ExtractError},
        local,
    },
    journal::{self, ClaimedJob, JobKind, Next, StoredTurn},
    keep::now,
    reconcile::{Origin, reconcile},
    work::{EMBED_REST, JobError, Workbench},
};
use crate::llm::LlmError;

/// Tries for an answer that is no answer. A model that answers nonsense twice
/// does so again; the batch is then given up.
const MALFORMED_TRIES: u32 = 2;

/// The payload of an extraction.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Batch {
    session: i64,
    batch: u32,
}

/// The payload of a reconciliation.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Found {
    session: i64,
    batch: u32,
    found: Vec<Candidate>,
}

impl Workbench {
    /// Asks the helper model for the facts in a batch.
    pub(super) async fn extract(&self, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
        let settings = self.live.get();
        let Some(helper) = &settings.extractor else { return Ok(None) };
        let Batch { session, batch } = payload(job)?;
        let turns = self.turns(session, job.subject, batch).await?;
        if turns.is_empty() {
            return Ok(None);
        }
        let answer = llm::extract(helper, &turns).await.map_err(failure)?;
        self.count_dropped(&answer);
        let found: Vec<Candidate> =
            answer.candidates.into_iter().filter(|c| settings.allows(&c.memory_type)).collect();
        if found.is_empty() {
            return Ok(None);
        }
        let payload = serde_json::to_string(&Found { session, batch, found });
        Ok(Some(Next { kind: JobKind::Reconcile, payload: payload.map_err(JobError::retry)? }))
    }

    /// Brings what an extraction found into the store.
    pub(super) async fn reconcile(&self, job: &ClaimedJob) -> Result<(), JobError> {
        let Found { session, batch, found } = payload(job)?;
        let turns = self.turns(session, job.subject, batch).await?;
        // All forgotten: so is what they said.
        let Some(last) = turns.last() else { return Ok(()) };
        self.keep_found(&origin(last, llm::EXTRACTOR), &found).await
    }

    /// Brings the statements in a turn into the store. Found again, they are known.
    pub(super) async fn extract_locally(&self, turn: i64) -> Result<(), JobError> {
        let (Some(said), before) =
            self.journal.read(move |c| journal::turn_and_before(c, turn)).await?
        else {
            return Ok(());
        };
        let settings = self.live.get();
        let embedder = self.keeper.embedder.as_ref();
        let mut found =
            local::extract(embedder, &said, before.as_ref()).await.map_err(JobError::retry)?;
        found.retain(|candidate| settings.allows(&candidate.memory_type));
        self.keep_found(&origin(&said, local::EXTRACTOR), &found).await
    }

    async fn keep_found(&self, origin: &Origin, found: &[Candidate]) -> Result<(), JobError> {
        let reconciled = reconcile(&self.keeper, origin, found, now()).await?;
        if reconciled.stored > 0 {
            tracing::info!("Memory: Stored {} facts", reconciled.stored);
        }
        if reconciled.without_vectors {
            self.owe_vectors(EMBED_REST).await?;
        }
        Ok(())
    }

    /// The turns of a batch, as far as they are in the scope of its last one:
    /// a fact belongs to one project.
    async fn turns(
        &self,
        session: i64,
        through: i64,
        batch: u32,
    ) -> Result<Vec<StoredTurn>, JobError> {
        let mut turns =
            self.journal.read(move |c| journal::batch(c, session, through, batch)).await?;
        if let Some(last) = turns.last() {
            let scope = (last.project.clone(), last.agent.clone());
            turns.retain(|turn| (&turn.project, &turn.agent) == (&scope.0, &scope.1));
        }
        Ok(turns)
    }

    fn count_dropped(&self, answer: &Answer) {
        for (reason, count) in [
            ("unknown_type", answer.unknown_type),
            ("unusable", answer.unusable),
            ("too_many", answer.too_many),
        ] {
            self.keeper.metrics.candidates_dropped(reason, count);
        }
    }
}

fn origin(last: &StoredTurn, extractor: Extractor) -> Origin {
    Origin {
        extractor,
        owner: last.owner.clone(),
        project: last.project.clone(),
        agent: last.agent.clone(),
        session: last.session.clone(),
        turn: last.key.clone(),
        at: last.began,
        request_id: last.request_id.clone(),
    }
}

/// Says in the log that a batch gave nothing, and what to do about it.
fn failure(error: ExtractError) -> JobError {
    match error {
        ExtractError::Malformed(_) => {
            tracing::warn!(%error, "Extraction parse failed");
            JobError::Retry { reason: error.to_string(), tries: MALFORMED_TRIES }
        }
        // Said when the server failed; it is not asked now.
        ExtractError::Llm(LlmError::Resting { wait }) => JobError::NotNow(wait),
        ExtractError::Llm(error) => {
            tracing::warn!(%error, "Extraction failed, batch skipped");
            if error.is_final() {
                JobError::Final(error.to_string())
            } else {
                JobError::retry(error)
            }
        }
    }
}

fn payload<'a, T: Deserialize<'a>>(job: &'a ClaimedJob) -> Result<T, JobError> {
    let payload = job.payload.as_deref().unwrap_or_default();
    serde_json::from_str(payload).map_err(|_| JobError::Final("its payload is unreadable".into()))
}
