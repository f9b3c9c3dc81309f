//! When a job that failed runs again.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    error::JobError,
    journal::{ClaimedJob, Next, Settled},
};

/// Outcome of one run of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum JobOutcome {
    /// Succeeded.
    Done,
    /// Failed; will be retried.
    Retry,
    /// Could not run because a dependency was unavailable; will run again.
    Postponed,
    /// Failed on its last attempt.
    Dead,
}

/// Tries until a job is given up. With the pauses below the last one comes
/// after more than half an hour: a restart of a model server is outlived.
const MAX_TRIES: u32 = 12;

/// The pause after the first failed try; doubles with each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(900);

/// How long a job waits for what is away, without a try being counted: longer than
/// any outage that somebody works on. After that its tries count as all do.
const WAITS: Duration = Duration::from_secs(7 * 24 * 3600);

/// The least pause of a job that waits so.
const LEAST_WAIT: Duration = Duration::from_secs(2);

/// The longest: so late it may notice that what was away is back.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The part of a job's age that it waits, between the two.
const WAIT_SHARE: u32 = 8;

/// The consequence of a run's result for its job.
pub(super) fn outcome(
    job: &ClaimedJob,
    result: Result<Option<Next>, JobError>,
    now: Timestamp,
) -> (Settled, Option<JobOutcome>) {
    let age = now.duration_since(job.since).try_into().unwrap_or(Duration::ZERO);
    let (reason, most) = match result {
        Ok(next) => return (Settled::Done(next), Some(JobOutcome::Done)),
        Err(JobError::NotNow(wait)) => return (Settled::Postponed(None, after(now, wait)), None),
        Err(JobError::Away(reason) | JobError::NoAnswer(reason)) if age < WAITS => {
            let wait = spread((age / WAIT_SHARE).clamp(LEAST_WAIT, LONGEST_WAIT));
            let settled = Settled::Postponed(Some(reason), after(now, wait));
            return (settled, Some(JobOutcome::Postponed));
        }
        Err(JobError::Final(reason)) => return (Settled::Dead(reason), Some(JobOutcome::Dead)),
        Err(JobError::Away(reason) | JobError::NoAnswer(reason)) => (reason, MAX_TRIES),
        Err(JobError::Retry { reason, tries }) => (reason, tries.min(MAX_TRIES)),
    };
    if !job.kind.is_given_up() || job.tries + 1 < most {
        let again = after(now, pause(job.tries));
        (Settled::Failed(reason, again), Some(JobOutcome::Retry))
    } else {
        (Settled::Dead(reason), Some(JobOutcome::Dead))
    }
}

/// The pause after a job's failed try: doubled each time.
fn pause(tries: u32) -> Duration {
    spread(FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE))
}

/// A pause by up to a half longer, so that jobs which failed together do not come
/// back together.
fn spread(pause: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 512;
    pause.mul_f64(1.0 + f64::from(u32::try_from(random).unwrap_or(0)) / 1024.0)
}

fn after(now: Timestamp, wait: Duration) -> Timestamp {
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{journal::JobKind, test_support::at};

    fn job(kind: JobKind, tries: u32, since: Timestamp) -> ClaimedJob {
        let mut job = ClaimedJob::of(kind);
        (job.tries, job.since) = (tries, since);
        job
    }

    #[test]
    fn a_forgetting_is_tried_for_ever_and_other_jobs_are_given_up() {
        let now = at(0);
        let again = |kind, tries| {
            let failed = Err(JobError::retry("it does not work"));
            matches!(outcome(&job(kind, tries, now), failed, now).0, Settled::Failed(..))
        };
        for &kind in JobKind::ALL {
            assert!(again(kind, MAX_TRIES - 2));
            assert_eq!(again(kind, MAX_TRIES - 1), !kind.is_given_up(), "{kind:?}");
        }
        assert!(again(JobKind::ForgetSaid, u32::MAX - 1));
        let unreadable = Err(JobError::Final("its payload is unreadable".into()));
        let settled = outcome(&job(JobKind::ForgetSaid, 0, now), unreadable, now).0;
        assert!(matches!(settled, Settled::Dead(_)));
    }

    #[test]
    fn what_is_away_is_waited_for_for_days_and_no_try_is_counted() {
        let now = at(0);
        let settled = |kind, age: Duration| {
            let since = now.checked_sub(age).unwrap_or(now);
            outcome(&job(kind, MAX_TRIES, since), Err(JobError::Away("gone".into())), now).0
        };
        let hour = Duration::from_secs(3600);
        for (age, least) in [(Duration::ZERO, 2), (hour / 60, 7), (hour, 300), (hour * 167, 300)] {
            let Settled::Postponed(Some(_), until) = settled(JobKind::StoreTurn, age) else {
                unreachable!("after {age:?}");
            };
            let wait = until.duration_since(now).as_secs_f64();
            assert!((f64::from(least)..f64::from(least) * 1.5 + 1.0).contains(&wait), "{wait}");
        }
        assert!(matches!(settled(JobKind::StoreTurn, hour * 169), Settled::Dead(_)));
        assert!(matches!(settled(JobKind::ForgetSaid, hour * 169), Settled::Failed(..)));
    }

    #[test]
    fn pauses_double_up_to_their_bound_and_are_spread() {
        for (tries, least) in [(0, 1), (3, 8), (9, 512), (12, 900), (40, 900)] {
            let pause = pause(tries).as_secs_f64();
            assert!(
                (f64::from(least)..f64::from(least) * 1.5).contains(&pause),
                "{tries}: {pause}"
            );
        }
    }
}
