//! The job that asks the helper model for the facts in a part of a batch. The facts are kept in the
//! journal with the job that reconciles it, so that no answer is asked for twice.

use crate::{
    error::JobError,
    extract::llm::{self, ExtractError},
    jobs::{
        candidates::{admitted, without_commands},
        payload::{Batch, Found, next, payload, turns_of},
        prompts::without_prompts,
        related::related,
    },
    journal::{ClaimedJob, JobKind, Next},
    parts::Parts,
    trail::TurnEvent,
    turn::StoredTurn,
};
use memgate_embed::{
    client::RemoteError,
    llm::{Helper, LlmError},
};

/// Asks the helper model for the facts in a part of a batch.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
    let settings = parts.live.get();
    let Some(helper) = &settings.extractor else { return Ok(None) };
    let of: Batch = payload(job)?;
    let turns = turns_of(&parts.journal, of, job.subject).await?;
    let mut turns = without_prompts(parts, turns).await?;
    let Some(last) = turns.last().cloned() else { return Ok(None) };
    // Patterns over long texts take a while: not on a thread of the runtime.
    let pieces = tokio::task::spawn_blocking(move || {
        turns.iter_mut().for_each(without_commands);
        llm::parts(&turns, of.part_bytes)
    });
    let pieces = pieces.await.map_err(|_| JobError::retry("the turns cannot be cut in parts"))?;
    let Some(part) = pieces.get(of.part) else { return Ok(None) };
    let known = related(&parts.writer, &last, part, parts.journal.now()).await?;
    let found = match (llm::extract(helper, part, &known).await, of.in_smaller_parts()) {
        (Err(ExtractError::Llm(error)), Some(smaller)) if error.may_be_too_long() => {
            tracing::debug!(%error, "the batch is asked for in smaller parts");
            return next(JobKind::Extract, &smaller);
        }
        (outcome, _) => outcome.map_err(|error| failure(error, helper))?,
    };
    count_dropped(parts, &last, &found);
    let found = admitted(parts, || (&last).into(), found.candidates);
    match (found.is_empty(), of.part + 1 < pieces.len()) {
        (true, false) => Ok(None),
        (true, true) => next(JobKind::Extract, &of.next()),
        (false, more) => next(JobKind::Reconcile, &Found { of, more, found }),
    }
}

fn count_dropped(parts: &Parts, last: &StoredTurn, found: &llm::Found) {
    for (reason, count) in [
        ("unknown_type", found.unknown_type),
        ("unusable", found.unusable),
        ("unsupported", found.unsupported),
        ("too_many", found.too_many),
        ("broken_off", found.broken_off),
    ] {
        if count > 0 {
            parts.writer.metrics.candidates_dropped(reason, count);
            let dropped = TurnEvent { count, ..TurnEvent::dropped("statement", reason) };
            parts.writer.trail.note(last.into(), [dropped]);
        }
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
