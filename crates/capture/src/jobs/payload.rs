//! The payloads of jobs.

use serde::{Deserialize, Serialize};

use crate::{
    candidate::Candidate,
    error::JobError,
    extract::llm,
    journal::{self, ClaimedJob, JobKind, Journal, Next},
    turn::StoredTurn,
};

/// The least that a part of a batch is cut down to for a model that takes no more, in bytes.
const LEAST_PART_BYTES: usize = 3 * 1024;

/// The payload of an extraction: a part of a batch. The next part is asked for when what was found
/// in this one is stored, so that it can be shown to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) session: i64,
    pub(crate) batch: u32,
    /// The number of the part, from 0.
    #[serde(default)]
    pub(crate) part: usize,
    /// How long parts are.
    #[serde(default = "Batch::whole")]
    pub(crate) part_bytes: usize,
}

impl Batch {
    fn whole() -> usize {
        llm::PART_BYTES
    }

    /// The batch from its beginning in smaller parts, unless they are small already.
    pub(crate) fn in_smaller_parts(self) -> Option<Self> {
        let part_bytes = self.part_bytes / 2;
        (part_bytes >= LEAST_PART_BYTES).then_some(Self { part: 0, part_bytes, ..self })
    }

    pub(crate) fn next(self) -> Self {
        Self { part: self.part + 1, ..self }
    }
}

/// The payload of a reconciliation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    #[serde(flatten)]
    pub(crate) of: Batch,
    /// Whether the batch has more parts.
    #[serde(default)]
    pub(crate) more: bool,
    pub(crate) found: Vec<Candidate>,
}

/// The turns of a batch, as far as they are in the scope of its last one:
/// a fact belongs to one project.
pub(crate) async fn turns_of(
    journal: &Journal,
    of: Batch,
    through: i64,
) -> Result<Vec<StoredTurn>, JobError> {
    let read = journal.read(move |c| journal::batch(c, of.session, through, of.batch));
    let mut turns = read.await?;
    if let Some(last) = turns.last() {
        let scope = (last.project.clone(), last.agent.clone());
        turns.retain(|turn| (&turn.project, &turn.agent) == (&scope.0, &scope.1));
    }
    Ok(turns)
}

/// The job that follows another, with this payload.
pub(crate) fn next(kind: JobKind, payload: &impl Serialize) -> Result<Option<Next>, JobError> {
    let payload = serde_json::to_string(payload).map_err(JobError::retry)?;
    Ok(Some(Next { kind, payload }))
}

/// The payload of a job.
pub(crate) fn payload<'a, T: Deserialize<'a>>(job: &'a ClaimedJob) -> Result<T, JobError> {
    let payload = job.payload.as_deref().unwrap_or_default();
    serde_json::from_str(payload).map_err(|_| JobError::Final("its payload is unreadable".into()))
}
