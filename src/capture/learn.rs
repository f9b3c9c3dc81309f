//! The two jobs of an extraction: asking the model, and bringing what it found
//! into the store. The first keeps its finds in the journal with the second, so
//! that no answer is asked for twice.

use serde::{Deserialize, Serialize};

use super::{
    extract::{
        candidate::{Candidate, Extractor},
        gate,
        llm::{self, ExtractError},
        local,
    },
    journal::{self, ClaimedJob, JobKind, Next, StoredTurn},
    keep::now,
    nearest::nearest,
    reconcile::{Origin, reconcile, remark},
    work::{EMBED_REST, JobError, Workbench},
};
use crate::{
    llm::{Helper, LlmError},
    remote::RemoteError,
    signals::{Commands, Typed},
};

/// The least that a part of a batch is cut down to for a model that takes no more, in bytes.
const LEAST_PART_BYTES: usize = 3 * 1024;

/// The payload of an extraction: a part of a batch. The next part is asked for when what was found
/// in this one is stored, so that it can be shown to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Batch {
    session: i64,
    batch: u32,
    /// The number of the part, from 0.
    #[serde(default)]
    part: usize,
    /// How long parts are.
    #[serde(default = "Batch::whole")]
    part_bytes: usize,
}

impl Batch {
    fn whole() -> usize {
        llm::PART_BYTES
    }

    /// The same batch from its beginning in smaller parts, unless they are small already.
    fn in_smaller_parts(self) -> Option<Self> {
        let part_bytes = self.part_bytes / 2;
        (part_bytes >= LEAST_PART_BYTES).then_some(Self { part: 0, part_bytes, ..self })
    }

    fn next(self) -> Self {
        Self { part: self.part + 1, ..self }
    }
}

/// The payload of a reconciliation.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Found {
    #[serde(flatten)]
    of: Batch,
    /// Whether the batch has more parts.
    #[serde(default)]
    more: bool,
    found: Vec<Candidate>,
}

impl Workbench {
    /// Asks the helper model for the facts in a part of a batch.
    pub(super) async fn extract(&self, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
        let settings = self.live.get();
        let Some(helper) = &settings.extractor else { return Ok(None) };
        let of: Batch = payload(job)?;
        let mut turns = self.turns(of.session, job.subject, of.batch).await?;
        let Some(last) = turns.last().cloned() else { return Ok(None) };
        // Patterns over long texts take a while: not on a thread of the runtime.
        let parts = tokio::task::spawn_blocking(move || {
            turns.iter_mut().for_each(without_commands);
            llm::parts(&turns, of.part_bytes)
        });
        let parts = parts.await.map_err(|_| JobError::retry("the turns cannot be cut in parts"))?;
        let Some(part) = parts.get(of.part) else { return Ok(None) };
        let known = nearest(&self.keeper, &last, part, now()).await?;
        let found = match (llm::extract(helper, part, &known).await, of.in_smaller_parts()) {
            (Err(ExtractError::Llm(error)), Some(smaller)) if error.may_be_too_long() => {
                tracing::debug!(%error, "the batch is asked for in smaller parts");
                return next(JobKind::Extract, &smaller);
            }
            (outcome, _) => outcome.map_err(|error| failure(error, helper))?,
        };
        self.count_dropped(&found);
        let found = self.admitted(found.candidates);
        match (found.is_empty(), of.part + 1 < parts.len()) {
            (true, false) => Ok(None),
            (true, true) => next(JobKind::Extract, &of.next()),
            (false, more) => next(JobKind::Reconcile, &Found { of, more, found }),
        }
    }

    /// Brings what an extraction found into the store.
    pub(super) async fn reconcile(&self, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
        let Found { of, more, mut found } = payload(job)?;
        let turns = self.turns(of.session, job.subject, of.batch).await?;
        // All forgotten: so is what they said.
        let Some(last) = turns.last().cloned() else { return Ok(None) };
        // Words over long texts take a while: not on a thread of the runtime.
        let dated = tokio::task::spawn_blocking(move || {
            llm::date(&mut found, &turns);
            found
        });
        let found = dated.await.map_err(|_| JobError::retry("the facts cannot be dated"))?;
        self.keep_found(&origin(&last, llm::EXTRACTOR), found).await?;
        if more { next(JobKind::Extract, &of.next()) } else { Ok(None) }
    }

    /// Brings the statements in a turn into the store. Found again, they are known.
    pub(super) async fn extract_locally(&self, turn: i64) -> Result<(), JobError> {
        let (Some(mut said), before) =
            self.journal.read(move |c| journal::turn_and_before(c, turn)).await?
        else {
            return Ok(());
        };
        // Where a sentence stands in the message counts, so before anything is taken out of it.
        let typed = Typed::of(&said.user_text);
        without_commands(&mut said);
        let (embedder, models) = (self.keeper.embedder.as_ref(), self.keeper.models.as_ref());
        let found = local::extract(embedder, models, &said, before.as_ref()).await?;
        let words = |found: &Candidate| found.raw.as_ref().unwrap_or(&found.content).clone();
        let kept: Vec<String> = found.iter().map(words).collect();
        let origin = Origin { typed, ..origin(&said, local::EXTRACTOR) };
        self.keep_found(&origin, found).await?;
        remark(&self.keeper, self.live.get().policy, &said, &kept, now()).await
    }

    /// The one way of candidates into the store, whoever found them: through the gate.
    /// Tells how many were stored.
    pub(super) async fn keep_found(
        &self,
        origin: &Origin,
        found: Vec<Candidate>,
    ) -> Result<u64, JobError> {
        let found = self.admitted(found);
        let policy = self.live.get().policy;
        let reconciled = reconcile(&self.keeper, policy, origin, &found, now()).await?;
        if reconciled.stored > 0 {
            tracing::info!("Memory: Stored {} facts", reconciled.stored);
        }
        if reconciled.without_vectors {
            self.owe_vectors(EMBED_REST).await?;
        }
        Ok(reconciled.stored)
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

    /// The candidates that pass the gate; the others are counted.
    fn admitted(&self, found: Vec<Candidate>) -> Vec<Candidate> {
        let settings = self.live.get();
        let admit = |candidate| gate::admit(candidate, &settings);
        let refused = |refusal: gate::Refusal| {
            self.keeper.metrics.candidates_dropped(refusal.name(), 1);
        };
        found.into_iter().filter_map(|found| admit(found).map_err(refused).ok()).collect()
    }

    fn count_dropped(&self, found: &llm::Found) {
        for (reason, count) in [
            ("unknown_type", found.unknown_type),
            ("unusable", found.unusable),
            ("not_said", found.not_said),
            ("too_many", found.too_many),
            ("broken_off", found.broken_off),
        ] {
            if count > 0 {
                self.keeper.metrics.candidates_dropped(reason, count);
            }
        }
    }
}

/// Leaves out what is asked of memory itself: jobs of its own do it where the user asks, and nobody where a document
/// does.
fn without_commands(turn: &mut StoredTurn) {
    let asked = Commands::of(&turn.user_text);
    if asked.kind().is_some() || asked.others {
        turn.user_text = asked.rest;
    }
}

pub(super) fn origin(last: &StoredTurn, extractor: Extractor) -> Origin {
    Origin {
        extractor,
        owner: last.owner.clone(),
        project: last.project.clone(),
        agent: last.agent.clone(),
        session: last.session.clone(),
        turn: last.key.clone(),
        at: last.began,
        request_id: last.request_id.clone(),
        typed: Typed::default(),
    }
}

/// Says in the log that a batch gave nothing, and what to do about it.
fn failure(error: ExtractError, helper: &Helper) -> JobError {
    match error {
        ExtractError::Malformed(_) => {
            tracing::warn!(%error, "Extraction parse failed");
            // It was asked twice.
            JobError::Final(error.to_string())
        }
        // Said when the server failed; it is not asked now.
        ExtractError::Llm(LlmError::Server(RemoteError::CoolingDown { wait })) => {
            JobError::NotNow(wait)
        }
        ExtractError::Llm(error) => {
            tracing::warn!(%error, "Extraction failed, batch skipped");
            if error.is_final() {
                JobError::Final(error.to_string())
            } else if helper.is_cooling_down() {
                // Nobody else got an answer either.
                JobError::Away(error.to_string())
            } else {
                JobError::retry(error)
            }
        }
    }
}

fn next(kind: JobKind, payload: &impl Serialize) -> Result<Option<Next>, JobError> {
    let payload = serde_json::to_string(payload).map_err(JobError::retry)?;
    Ok(Some(Next { kind, payload }))
}

pub(super) fn payload<'a, T: Deserialize<'a>>(job: &'a ClaimedJob) -> Result<T, JobError> {
    let payload = job.payload.as_deref().unwrap_or_default();
    serde_json::from_str(payload).map_err(|_| JobError::Final("its payload is unreadable".into()))
}
