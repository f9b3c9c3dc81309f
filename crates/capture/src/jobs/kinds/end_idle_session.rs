//! The job that ends a session once it is idle.

use std::time::Duration;

use crate::{
    error::JobError,
    journal::{self, ClaimedJob, Waits},
    parts::Parts,
};

/// The pause before the end of a session in which an exchange is in flight.
const BUSY_PAUSE: Duration = Duration::from_secs(5);

/// Ends the session, unless it is not idle yet or an exchange of it is in flight.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
    let (session, rules, now) = (job.subject, parts.live.rules(), parts.journal.now());
    let talking = job.owner.as_ref().map(|owner| parts.exchanges.sessions_of(owner));
    let waits = parts.journal.write(move |c| {
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
