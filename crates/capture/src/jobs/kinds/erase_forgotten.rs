//! The job that erases what a request to forget has hidden, when its grace period ends.

use crate::{
    error::JobError,
    forget::erase,
    jobs::payload::payload,
    journal::{ClaimedJob, Hidden, lanes_of},
    parts::Parts,
};
use memgate_access::{Action, Actor, Subject};

/// Erases the memories that are still hidden.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
    let (Some(owner), Some(_)) = (&job.owner, &job.payload) else { return Ok(()) };
    let hidden: Hidden = payload(job)?;
    // An extraction in the owner's other lane could read what is being erased.
    let [_, extractions] = lanes_of(owner);
    let held = parts.lanes.hold(&extractions).await;
    let erased = erase(parts, owner, &hidden).await;
    drop(held);
    erased.map_err(JobError::or_retry)?;
    let subject = Subject::of(owner).count(hidden.count());
    parts.writer.audit.record(Actor::Job, Action::ForgetErase, subject, None).await;
    Ok(())
}
