//! The job that brings what an extraction found into the store.

use crate::{
    error::JobError,
    extract::llm,
    extractor::LLM,
    jobs::{
        candidates::{origin, store_candidates},
        payload::{Found, next, payload, turns_of},
    },
    journal::{ClaimedJob, JobKind, Next},
    parts::Parts,
};

/// Brings what an extraction found into the store.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
    let Found { of, more, mut found } = payload(job)?;
    let turns = turns_of(&parts.journal, of, job.subject).await?;
    // All forgotten: so is what they said.
    let Some(last) = turns.last().cloned() else { return Ok(None) };
    // Words over long texts take a while: not on a thread of the runtime.
    let dated = tokio::task::spawn_blocking(move || {
        llm::date(&mut found, &turns);
        found
    });
    let found = dated.await.map_err(|_| JobError::retry("the facts cannot be dated"))?;
    store_candidates(parts, &origin(&last, LLM), found).await?;
    parts.writer.trail.log(&last);
    if more { next(JobKind::Extract, &of.next()) } else { Ok(None) }
}
