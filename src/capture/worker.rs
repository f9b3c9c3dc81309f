//! The worker: takes jobs that are due, one a lane and a few at a time, runs
//! them, and settles them. It sleeps until it is woken or the next job is due.

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
        loop {
            let next = match this.start_due(&mut running).await {
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
                Some(_) = running.join_next() => {}
                () = sleep_until(next.map_or(sleep, |next| next.min(sleep))) => {}
            }
        }
        running.shutdown().await;
    }

    /// Starts what is due, as far as there is room; tells when the next job is.
    async fn start_due(
        self: &Arc<Self>,
        running: &mut JoinSet<()>,
    ) -> Result<Option<Instant>, DatabaseError> {
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
        let (settled, outcome) = outcome(job.kind, job.tries, result, Timestamp::now());
        if let Settled::Failed(reason, _) | Settled::Dead(reason) = &settled {
            tracing::debug!(kind = job.kind.name(), tries = job.tries + 1, reason, "a job failed");
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

/// What a run's result means for its job, after so many failed tries.
fn outcome(
    kind: JobKind,
    tries: u32,
    result: Result<Option<Next>, JobError>,
    now: Timestamp,
) -> (Settled, Option<JobOutcome>) {
    match result {
        Ok(next) => (Settled::Done(next), Some(JobOutcome::Done)),
        Err(JobError::NotNow(wait)) => (Settled::Postponed(after(now, wait)), None),
        Err(JobError::Retry { reason, tries: most })
            if !kind.is_given_up() || tries + 1 < most.min(MAX_TRIES) =>
        {
            (Settled::Failed(reason, after(now, pause(tries))), Some(JobOutcome::Retry))
        }
        Err(JobError::Retry { reason, .. } | JobError::Final(reason)) => {
            (Settled::Dead(reason), Some(JobOutcome::Dead))
        }
    }
}

/// The pause after a job's failed try: doubled each time, and by up to a half
/// longer, so that jobs which failed together do not come back together.
fn pause(tries: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE);
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

    #[test]
    fn a_forgetting_is_tried_for_ever_and_other_jobs_are_given_up() {
        let again = |kind, tries| {
            let failed = Err(JobError::retry("the store is down"));
            matches!(outcome(kind, tries, failed, Timestamp::now()).0, Settled::Failed(..))
        };
        for kind in JobKind::ALL {
            assert!(again(kind, MAX_TRIES - 2));
            assert_eq!(again(kind, MAX_TRIES - 1), kind == JobKind::ForgetSaid, "{kind:?}");
        }
        assert!(again(JobKind::ForgetSaid, u32::MAX));
        let unreadable = Err(JobError::Final("its payload is unreadable".into()));
        let settled = outcome(JobKind::ForgetSaid, 0, unreadable, Timestamp::now()).0;
        assert!(matches!(settled, Settled::Dead(_)));
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
