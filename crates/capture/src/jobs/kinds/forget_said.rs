//! The jobs that forget: what a user asked to be forgotten, and the first version of a message that was edited.

use crate::{
    error::JobError,
    forget::{erase_at_once, forget_turn, hide, matching},
    jobs::{context::JobContext, payload::payload},
    journal::{self, ClaimedJob, ForgetOrder, lanes_of},
    trail::TurnEvent,
};
use memgate_access::{Action, Actor, Subject};
use memgate_core::memory::Owner;

/// Carries out a request to forget: hides the memories that certainly match, to be erased after the grace period.
pub(crate) async fn run(context: &JobContext, job: &ClaimedJob) -> Result<(), JobError> {
    // Without a payload it was done, and only the settling was missed.
    let (Some(owner), Some(_)) = (&job.owner, &job.payload) else { return Ok(()) };
    let order: ForgetOrder = payload(job)?;
    // Whatever fails from here on may work another time.
    carry_out(context, job, owner, &order).await.map_err(JobError::or_retry)
}

async fn carry_out(
    context: &JobContext,
    job: &ClaimedJob,
    owner: &Owner,
    order: &ForgetOrder,
) -> Result<(), JobError> {
    // This job has the owner's one lane; an extraction in the other could bring it back.
    let [_, extractions] = lanes_of(owner);
    let held = context.lanes.hold(&extractions).await;
    let embedder = context.writer.embedder.as_ref();
    let found = matching(&context.forget, embedder, owner, job.subject, order).await?;
    let grace = context.live.get().forget_grace;
    let turn = job.subject;
    let said = context.journal.read(move |c| journal::turn(c, turn)).await?;
    if let Some(matches) = found {
        let (action, forgotten) = if grace.is_zero() {
            (Action::ForgetSaid, erase_at_once(&context.forget, owner, &matches).await?)
        } else {
            let hidden = hide(&context.forget, job.subject, owner, matches, grace).await?;
            (Action::ForgetHide, hidden)
        };
        let subject = Subject::of(owner).count(forgotten);
        context.writer.audit.record(Actor::Message, action, subject, None).await;
        context.writer.metrics.command_done("forget", forgotten);
        if let Some(said) = &said {
            context.writer.trail.note(said.into(), [TurnEvent::forgotten(forgotten)]);
            context.writer.trail.log(said);
        }
    } else {
        tracing::warn!("A request to forget matches too much, nothing is forgotten");
    }
    context.journal.fulfilled(job.clone()).await?;
    drop(held);
    Ok(())
}

/// Forgets a turn whose message was edited and sent anew, with what was made of it alone. Nothing to do where it is gone.
pub(crate) async fn run_edited(context: &JobContext, turn: i64) -> Result<(), JobError> {
    let Some(turn) = context.journal.read(move |c| journal::turn(c, turn)).await? else {
        return Ok(());
    };
    // As above.
    let [_, extractions] = lanes_of(&turn.owner);
    let held = context.lanes.hold(&extractions).await;
    let forgotten = forget_turn(&context.forget, &turn).await;
    drop(held);
    context.writer.metrics.command_done("edit", forgotten?);
    Ok(())
}
