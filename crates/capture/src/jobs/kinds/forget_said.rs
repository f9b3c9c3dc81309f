//! The jobs that forget: what a user asked to be forgotten, and the first version of a message that was edited.

use crate::{
    error::JobError,
    forget::{erase_at_once, forget_turn, hide, matching},
    jobs::payload::payload,
    journal::{self, ClaimedJob, ForgetOrder, lanes_of},
    parts::Parts,
    trail::TurnEvent,
};
use memgate_access::{Action, Actor, Subject};
use memgate_core::memory::Owner;

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
    let grace = parts.live.get().forget_grace;
    let turn = job.subject;
    let said = parts.journal.read(move |c| journal::turn(c, turn)).await?;
    if let Some(matches) = found {
        let (action, forgotten) = if grace.is_zero() {
            (Action::ForgetSaid, erase_at_once(parts, owner, matches).await?)
        } else {
            let hidden = hide(parts, job.subject, owner, matches, grace).await?;
            (Action::ForgetHide, hidden)
        };
        parts.writer.trail.drop_words(owner).await?;
        let subject = Subject::of(owner).count(forgotten);
        parts.writer.audit.record(Actor::Message, action, subject, None).await;
        parts.writer.metrics.command_done("forget", forgotten);
        if let Some(said) = &said {
            parts.writer.trail.note(said.into(), [TurnEvent::forgotten(forgotten)]);
            parts.writer.trail.log(said);
        }
    } else {
        tracing::warn!("A request to forget matches too much, nothing is forgotten");
    }
    parts.journal.fulfilled(job.clone()).await?;
    drop(held);
    Ok(())
}

/// Forgets a turn whose message was edited and sent anew, with what was made of it alone. Nothing to do where it is gone.
pub(crate) async fn run_edited(parts: &Parts, turn: i64) -> Result<(), JobError> {
    let Some(turn) = parts.journal.read(move |c| journal::turn(c, turn)).await? else {
        return Ok(());
    };
    // As above.
    let [_, extractions] = lanes_of(&turn.owner);
    let held = parts.lanes.hold(&extractions).await;
    let forgotten = forget_turn(parts, &turn).await;
    drop(held);
    parts.writer.metrics.command_done("edit", forgotten?);
    Ok(())
}
