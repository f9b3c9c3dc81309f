//! The jobs that forget: what a user asked to be forgotten, and the first version of a message that was edited.

use crate::{
    error::JobError,
    forget::{Matches, erase_at_once, hide, made_of, matching},
    jobs::{payload::payload, prompts::is_clients_prompt},
    journal::{self, ClaimedJob, EditOrder, ForgetOrder, lanes_of},
    parts::Parts,
    trail::TurnEvent,
    turn::StoredTurn,
};
use memgate_access::{Action, Actor, Subject};
use memgate_core::memory::Owner;

/// Why memories are forgotten, as the audit log, the memories' histories and the metrics say it.
struct Cause {
    hidden: Action,
    erased: Action,
    reason: &'static str,
    command: &'static str,
}

const ASKED: Cause = Cause {
    hidden: Action::ForgetHide,
    erased: Action::ForgetSaid,
    reason: "asked to forget",
    command: "forget",
};

const EDITED: Cause = Cause {
    hidden: Action::EditHide,
    erased: Action::EditErase,
    reason: "message edited",
    command: "edit",
};

/// Carries out a request to forget: hides the memories that certainly match, to be erased after the grace period.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
    // Without a payload it was done, and only the settling was missed.
    let (Some(owner), Some(_)) = (&job.owner, &job.payload) else { return Ok(()) };
    let order: ForgetOrder = payload(job)?;
    // Whatever fails from here on may work another time.
    carry_out(parts, job, owner, &order).await.map_err(JobError::or_retry)
}

async fn carry_out(
    parts: &Parts,
    job: &ClaimedJob,
    owner: &Owner,
    order: &ForgetOrder,
) -> Result<(), JobError> {
    // This job has the owner's one lane; an extraction in the other could bring it back.
    let [_, extractions] = lanes_of(owner);
    let held = parts.lanes.hold(&extractions).await;
    let embedder = parts.writer.embedder.as_ref();
    let found = matching(parts, embedder, owner, job.subject, order).await?;
    let said = turn_of(parts, job.subject).await?;
    if let Some(matches) = found {
        put_away(parts, job, owner, matches, (said.as_ref(), &ASKED)).await?;
    } else {
        tracing::warn!("A request to forget matches too much, nothing is forgotten");
    }
    parts.journal.fulfilled(job.clone()).await?;
    drop(held);
    Ok(())
}

/// Forgets a turn whose message was edited and sent anew, with what was made of it alone, like what a user asked to be
/// forgotten. Nothing to do where the turn is gone, or where a client wrote the message at its place.
pub(crate) async fn run_edited(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
    let order: EditOrder = payload(job)?;
    let Some(first) = turn_of(parts, job.subject).await? else { return Ok(()) };
    if let Some(by) = turn_of(parts, order.by).await?
        && is_clients_prompt(parts, &by).await?
    {
        return Ok(());
    }
    // As above.
    let [_, extractions] = lanes_of(&first.owner);
    let held = parts.lanes.hold(&extractions).await;
    let matches = made_of(parts, &first).await?;
    put_away(parts, job, &first.owner, matches, (Some(&first), &EDITED)).await?;
    drop(held);
    Ok(())
}

async fn turn_of(parts: &Parts, number: i64) -> Result<Option<StoredTurn>, JobError> {
    Ok(parts.journal.read(move |c| journal::turn(c, number)).await?)
}

/// Hides memories until the grace period is over, or erases them at once where none is configured, and records it.
async fn put_away(
    parts: &Parts,
    job: &ClaimedJob,
    owner: &Owner,
    matches: Matches,
    (said, cause): (Option<&StoredTurn>, &Cause),
) -> Result<(), JobError> {
    let grace = parts.live.get().forget_grace;
    let (action, forgotten) = if grace.is_zero() {
        (cause.erased, erase_at_once(parts, owner, matches, cause.reason).await?)
    } else {
        let hidden = hide(parts, job.subject, owner, matches, grace, cause.reason).await?;
        (cause.hidden, hidden)
    };
    parts.writer.trail.drop_words(owner).await?;
    let subject = Subject::of(owner).count(forgotten);
    parts.writer.audit.record(Actor::Message, action, subject, None).await;
    parts.writer.metrics.command_done(cause.command, forgotten);
    if let Some(said) = said {
        parts.writer.trail.note(said.into(), [TurnEvent::forgotten(forgotten)]);
        parts.writer.trail.log(said);
    }
    Ok(())
}
