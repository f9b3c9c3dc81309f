//! The worker: takes jobs that are due, one a lane and a few at a time, runs
//! them, and settles them. It sleeps until it is woken or the next job is due, and
//! for as long as the store is away.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    journal::{
        ClaimedJob, JobKind, Journal, Next, Owed, Room, Settled, ask_for_pruning, next_due,
        next_time, owed, settle,
    },
    lanes::{Lanes, Running},
    work::{JobError, Workbench},
};
use crate::{
    sqlite::DatabaseError,
    telemetry::{JobOutcome, JobState, Metrics},
};

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

/// The pause when the journal cannot be read.
const JOURNAL_PAUSE: Duration = Duration::from_secs(1);

/// The longest sleep: so long a change of the machine's clock can go unnoticed, and
/// so old the figures can be.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);

/// The least time between two counts of all jobs.
const COUNT_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Worker {
    pub(super) journal: Arc<Journal>,
    pub(super) bench: Workbench,
    pub(super) lanes: Arc<Lanes>,
    pub(super) metrics: Arc<Metrics>,
    /// Told when there may be new jobs.
    pub(super) wake: Arc<Notify>,
    /// Tells that a job was settled.
    pub(super) settled: Arc<Notify>,
    pub(super) slots: Slots,
}

/// How many jobs may run at one time. Extractions count apart: they wait for a
/// model server, and must not keep the others waiting.
#[derive(Debug)]
pub(super) struct Slots {
    extractions: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

impl Slots {
    /// So many of each, at least 1.
    pub(super) fn new(each: usize) -> Self {
        let slots = || Arc::new(Semaphore::new(each.clamp(1, Semaphore::MAX_PERMITS)));
        Self { extractions: slots(), others: slots() }
    }

    fn of(&self, kind: JobKind) -> &Arc<Semaphore> {
        match kind {
            JobKind::Extract | JobKind::Summarise => &self.extractions,
            JobKind::StoreTurn
            | JobKind::ExtractLocally
            | JobKind::Remember
            | JobKind::ForgetSaid
            | JobKind::EraseForgotten
            | JobKind::Reconcile
            | JobKind::EndIdleSession
            | JobKind::Embed
            | JobKind::Prune => &self.others,
        }
    }

    fn room(&self, busy: String) -> Room {
        let free = |slots: &Semaphore| slots.available_permits() > 0;
        Room { busy, extractions: free(&self.extractions), others: free(&self.others) }
    }
}

impl Worker {
    /// Works until told to stop; then the jobs that run are left, to be run
    /// again after the next start.
    pub(super) async fn run(self, stop: CancellationToken) {
        let this = Arc::new(self);
        if let Err(error) = this.bench.owe_vectors(Duration::ZERO).await {
            tracing::debug!(?error, "missing vectors are not looked for");
        }
        let now = Timestamp::now();
        if let Err(error) = this.journal.write(move |c| ask_for_pruning(c, now)).await {
            tracing::debug!(%error, "the journal is not pruned");
        }
        let mut running = JoinSet::new();
        let mut counted = None;
        let store = this.bench.keeper.store.clone();
        loop {
            // What all jobs but a few would fail of; these few can wait.
            let rests = !store.is_enabled();
            let next = match this.start_due(&mut running, rests).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::debug!(%error, "jobs cannot be read");
                    Some(Instant::now() + JOURNAL_PAUSE)
                }
            };
            let count_again = this.count(&mut counted, running.len()).await;
            let sleep = count_again.unwrap_or_else(|| Instant::now() + LONGEST_SLEEP);
            tokio::select! {
                () = stop.cancelled() => break,
                () = this.wake.notified() => {}
                () = store.back(), if rests => {}
                Some(_) = running.join_next() => {}
                () = sleep_until(next.map_or(sleep, |next| next.min(sleep))) => {}
            }
        }
        running.shutdown().await;
    }

    /// Starts what is due, as far as there is room and unless all rest; tells when the next job is.
    async fn start_due(
        self: &Arc<Self>,
        running: &mut JoinSet<()>,
        rests: bool,
    ) -> Result<Option<Instant>, DatabaseError> {
        if rests {
            return Ok(None);
        }
        loop {
            let (room, now) = (self.slots.room(self.lanes.busy()), Timestamp::now());
            let (job, next) = self
                .journal
                .read(move |c| match next_due(c, &room, now)? {
                    Some(job) => Ok((Some(job), None)),
                    None => Ok((None, next_time(c, &room)?)),
                })
                .await?;
            let Some(job) = job else {
                return Ok(next.map(|next| Instant::now() + until(next, now)));
            };
            // Only this task takes slots, so there is one. The lane may have
            // been held since we looked; its next job comes when that is over.
            let slot = self.slots.of(job.kind).clone().try_acquire_owned();
            if let (Ok(slot), Some(lane)) = (slot, self.lanes.enter(&job.lane)) {
                let run = self.clone().run_job(job, lane);
                running.spawn(async move {
                    run.await;
                    drop(slot);
                });
            }
        }
    }

    async fn run_job(self: Arc<Self>, job: ClaimedJob, lane: Running) {
        let run = AssertUnwindSafe(self.bench.run(&job)).catch_unwind();
        let result = tokio::select! {
            // Not settled: it is still owed, unless what it is about is gone.
            () = lane.stopped() => return,
            result = run => result,
        };
        let result = result.unwrap_or_else(|_| Err(JobError::retry("the job panicked")));
        if matches!(result, Err(JobError::Away(_))) && self.store_is_away().await {
            // Not settled either: it goes on, in its place, when the store is back.
            return;
        }
        let (settled, outcome) = outcome(&job, result, Timestamp::now());
        match &settled {
            Settled::Done(_) | Settled::Postponed(None, _) => {}
            Settled::Postponed(Some(reason), _)
            | Settled::Failed(reason, _)
            | Settled::Dead(reason) => {
                tracing::debug!(kind = job.kind.name(), tries = job.tries, reason, "a job failed");
            }
        }
        if let Some(outcome) = outcome {
            self.metrics.job_ended(job.kind.name(), outcome);
        }
        let now = Timestamp::now();
        if let Err(error) = self.journal.write(move |c| settle(c, &job, &settled, now)).await {
            tracing::debug!(%error, "a job could not be settled");
            // Else it would be taken at once, again and again.
            tokio::time::sleep(JOURNAL_PAUSE).await;
        }
        // In this order: whoever is told looks at a lane that is free.
        drop(lane);
        self.settled.notify_waiters();
    }

    /// Whether the store itself is away, and not only something in it.
    async fn store_is_away(&self) -> bool {
        let store = &self.bench.keeper.store;
        // What it finds the store knows from then on.
        if store.is_enabled() {
            let _ = store.check().await;
        }
        !store.is_enabled()
    }

    /// Counts what is owed, unless that was done just now: then tells when to do it.
    async fn count(&self, last: &mut Option<Instant>, running: usize) -> Option<Instant> {
        self.metrics.set_jobs(JobState::Running, running as u64);
        if let Some(last) = last.filter(|last| last.elapsed() < COUNT_PAUSE) {
            return Some(last + COUNT_PAUSE);
        }
        *last = Some(Instant::now());
        if let Ok(owed) = self.journal.read(owed).await {
            self.show(&owed);
        }
        None
    }

    fn show(&self, owed: &Owed) {
        self.metrics.set_jobs(JobState::Pending, owed.pending);
        self.metrics.set_jobs(JobState::Dead, owed.dead.iter().map(|(_, count)| count).sum());
        for kind in JobKind::ALL.map(JobKind::name) {
            // Those that are gone must not stay in the figures.
            let dead = owed.dead.iter().find(|(name, _)| name == kind);
            self.metrics.set_dead_jobs(kind, dead.map_or(0, |(_, count)| *count));
        }
        let late = owed.first_due.map(|due| Timestamp::now().duration_since(due));
        self.metrics.set_lag(late.and_then(|late| late.try_into().ok()).unwrap_or_default());
    }
}

/// What a run's result means for its job.
fn outcome(
    job: &ClaimedJob,
    result: Result<Option<Next>, JobError>,
    now: Timestamp,
) -> (Settled, Option<JobOutcome>) {
    let age = now.duration_since(job.since).try_into().unwrap_or(Duration::ZERO);
    let (reason, most) = match result {
        Ok(next) => return (Settled::Done(next), Some(JobOutcome::Done)),
        Err(JobError::NotNow(wait)) => return (Settled::Postponed(None, after(now, wait)), None),
        Err(JobError::Away(reason)) if age < WAITS => {
            let wait = spread((age / WAIT_SHARE).clamp(LEAST_WAIT, LONGEST_WAIT));
            let settled = Settled::Postponed(Some(reason), after(now, wait));
            return (settled, Some(JobOutcome::Postponed));
        }
        Err(JobError::Final(reason)) => return (Settled::Dead(reason), Some(JobOutcome::Dead)),
        Err(JobError::Away(reason)) => (reason, MAX_TRIES),
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

fn until(time: Timestamp, now: Timestamp) -> Duration {
    // A millisecond more: times in the tables are cut to milliseconds.
    time.duration_since(now).try_into().unwrap_or(Duration::ZERO) + Duration::from_millis(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(kind: JobKind, tries: u32, since: Timestamp) -> ClaimedJob {
        let mut job = ClaimedJob::of(kind);
        (job.tries, job.since) = (tries, since);
        job
    }

    #[test]
    fn a_forgetting_is_tried_for_ever_and_other_jobs_are_given_up() {
        let now = Timestamp::now();
        let again = |kind, tries| {
            let failed = Err(JobError::retry("it does not work"));
            matches!(outcome(&job(kind, tries, now), failed, now).0, Settled::Failed(..))
        };
        for kind in JobKind::ALL {
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
        let now = Timestamp::now();
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
