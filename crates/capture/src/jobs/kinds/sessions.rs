//! Jobs about sessions: one that is idle ends; one without a user is kept while it goes on, and erased after its time.

use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;

use crate::{
    error::{ForgetError, JobError},
    journal::{self, ClaimedJob, Waits, lanes_of},
    parts::Parts,
};
use memgate_core::memory::{Actor, ForgetScope, Owner, Write};

/// The pause before the end of a session in which an exchange is in flight.
const BUSY_PAUSE: Duration = Duration::from_secs(5);

/// Sessions that are looked up at once.
const AT_ONCE: u32 = 500;

/// Sessions that are erased side by side: a database removes their rows in one commit, and cleans its file once.
const ERASED_TOGETHER: usize = 16;

/// Ends the session, unless it is not idle yet or an exchange of it is in flight.
pub(crate) async fn end_idle(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
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

/// Keeps what is known of a session without a user for as long after this turn as after any. Memories
/// that had expired when it began stay expired.
pub(crate) async fn keep(parts: &Parts, turn: i64) -> Result<(), JobError> {
    let found = parts.journal.read(move |c| journal::end_of_turn(c, turn)).await?;
    let Some((owner, [began, ended])) = found else { return Ok(()) };
    Ok(parts.writer.store.keep_until(&owner, parts.writer.end_after(ended), began).await?)
}

/// Erases the memories, turns and jobs of the sessions without a user that had no turn for as long as they are kept, and
/// of those that were quiet the longest where there are too many.
pub(crate) async fn erase_ended(parts: &Parts) -> Result<(), ForgetError> {
    let now = parts.journal.now();
    let bounds = parts.writer.anonymous;
    let before = now.checked_sub(bounds.ttl).unwrap_or(now);
    loop {
        let over = move |c: &_| journal::ended_without_user(c, before, bounds.sessions, AT_ONCE);
        let found = parts.journal.read(over).await?;
        let (many, mut erased) = (found.len() == AT_ONCE as usize, 0);
        let mut all = Ok(());
        for some in found.chunks(ERASED_TOGETHER) {
            let erasing = some.iter().map(|(owner, active)| erase(parts, owner.clone(), *active));
            for done in join_all(erasing).await {
                // One that cannot be erased now keeps no other from it.
                match done {
                    Ok(done) => erased += usize::from(done),
                    Err(error) => all = Err(error),
                }
            }
        }
        if all.is_err() || !many || erased == 0 {
            return all;
        }
    }
}

/// Erases a session, unless it had a turn after `active` or has an exchange in flight. Returns whether it did.
async fn erase(parts: &Parts, owner: Owner, active: Timestamp) -> Result<bool, ForgetError> {
    if !parts.exchanges.sessions_of(&owner).is_empty() {
        return Ok(false);
    }
    // A job of the session could write what is being erased.
    let mut held = Vec::new();
    for lane in lanes_of(&owner) {
        held.push(parts.lanes.hold(&lane).await);
    }
    let of = owner.clone();
    if !parts.journal.read(move |c| journal::is_quiet_since(c, &of, active)).await? {
        return Ok(false);
    }
    let scope = ForgetScope { owner: owner.clone(), project_id: None };
    let write = Write::by(Actor::Upkeep, "session ended");
    // The journal last: it says which sessions are left to erase. A turn that comes meanwhile stays.
    parts.writer.store.forget_by_scope(&scope, &write).await?;
    parts.writer.trail.erase(&owner).await?;
    parts.journal.forget_quiet(owner, active).await?;
    Ok(true)
}
