//! The runner: takes jobs that are due, one a lane and a few at a time, runs them, and settles them. It
//! sleeps until it is woken or the next job is due, and for as long as the store is away.

use std::{mem, sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{
    backfill::owe_vectors,
    error::JobError,
    jobs::{kinds, retry::outcome},
    journal::{
        ClaimedJob, JobKind, Owed, Room, Settled, ask_for_pruning, next_due, next_time, owed,
        settle,
    },
    lanes::Running,
    parts::Parts,
};
use memgate_sqlite::DatabaseError;
use memgate_telemetry::PanicIn;

/// The pause when the journal cannot be read.
const JOURNAL_PAUSE: Duration = Duration::from_secs(1);

/// The longest sleep: the longest time in which a change of the machine's clock goes unnoticed, and
/// the greatest age of the figures.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);

/// The least time between two counts of all jobs.
const COUNT_PAUSE: Duration = Duration::from_secs(1);

/// State of a job, as metrics count it.
#[derive(Clone, Copy, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum JobState {
    Pending,
    Running,
    Dead,
}

pub(crate) struct Runner {
    pub(crate) parts: Arc<Parts>,
    pub(crate) slots: Slots,
}

/// How many jobs may run at one time. Extractions count apart: they wait for a
/// model server, and must not keep the others waiting.
#[derive(Debug)]
pub(crate) struct Slots {
    extractions: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

impl Slots {
    /// So many of each, at least 1.
    pub(crate) fn new(each: usize) -> Self {
        let slots = || Arc::new(Semaphore::new(each.clamp(1, Semaphore::MAX_PERMITS)));
        Self { extractions: slots(), others: slots() }
    }

    fn of(&self, kind: JobKind) -> &Arc<Semaphore> {
        match kind {
            JobKind::Extract | JobKind::Summarise => &self.extractions,
            JobKind::StoreTurn
            | JobKind::ExtractLocally
            | JobKind::Remember
            | JobKind::SetPreferences
            | JobKind::ForgetSaid
            | JobKind::ForgetEdited
            | JobKind::EraseForgotten
            | JobKind::Reconcile
            | JobKind::EndIdleSession
            | JobKind::KeepSession
            | JobKind::Embed
            | JobKind::Prune => &self.others,
        }
    }

    fn room(&self, busy: String) -> Room {
        let free = |slots: &Semaphore| slots.available_permits() > 0;
        Room { busy, extractions: free(&self.extractions), others: free(&self.others) }
    }
}

impl Runner {
    /// Works until told to stop; then the jobs that run are left, to be run
    /// again after the next start.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let this = Arc::new(self);
        if let Err(error) = owe_vectors(&this.parts.journal, Duration::ZERO).await {
            tracing::debug!(%error, "missing vectors are not looked for");
        }
        let now = this.parts.journal.now();
        if let Err(error) = this.parts.journal.write(move |c| ask_for_pruning(c, now)).await {
            tracing::debug!(%error, "the journal is not pruned");
        }
        let mut running = JoinSet::new();
        let (mut counted, mut clock) = (None, this.parts.journal.clock());
        let store = this.parts.writer.store.clone();
        loop {
            // Nearly all jobs would fail without the store; the others can wait.
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
                () = this.parts.wake.notified() => {}
                () = store.back(), if rests => {}
                () = clock.changed() => {}
                Some(_) = running.join_next() => {}
                () = sleep_until(next.map_or(sleep, |next| next.min(sleep))) => {}
            }
        }
        running.shutdown().await;
    }

    /// Starts the jobs that are due, as far as there is room and unless all rest. Returns when the next
    /// job is due.
    async fn start_due(
        self: &Arc<Self>,
        running: &mut JoinSet<()>,
        rests: bool,
    ) -> Result<Option<Instant>, DatabaseError> {
        if rests {
            return Ok(None);
        }
        loop {
            let (room, now) = (self.slots.room(self.parts.lanes.busy()), self.parts.journal.now());
            let (job, next) = self
                .parts
                .journal
                .read(move |c| match next_due(c, &room, now)? {
                    Some(job) => Ok((Some(job), None)),
                    None => Ok((None, next_time(c, &room, now)?)),
                })
                .await?;
            let Some(job) = job else {
                return Ok(next.map(|next| Instant::now() + until(next, now)));
            };
            // Only this task takes slots, so there is one. The lane may have
            // been held since we looked; its next job comes when that is over.
            let slot = self.slots.of(job.kind).clone().try_acquire_owned();
            if let (Ok(slot), Some(lane)) = (slot, self.parts.lanes.enter(&job.lane)) {
                let run = self.clone().run_job(job, lane);
                running.spawn(async move {
                    run.await;
                    drop(slot);
                });
            }
        }
    }

    async fn run_job(self: Arc<Self>, job: ClaimedJob, lane: Running) {
        let mut runs_again = true;
        let result = loop {
            let work = kinds::run(&self.parts, &job);
            let run = self.parts.writer.metrics.catch_async(PanicIn::Job, work);
            let result = tokio::select! {
                // Not settled: it is still owed, unless what it is about is gone.
                () = lane.stopped() => return,
                result = run => result,
            };
            let result = result.unwrap_or_else(|| Err(JobError::retry("the job panicked")));
            let no_answer = matches!(result, Err(JobError::NoAnswer(_)));
            if (no_answer || matches!(result, Err(JobError::Away(_)))) && self.store_is_away().await
            {
                // Not settled either: it goes on, in its place, when the store is back.
                return;
            }
            // The store is back already. A postponed job would lose its place: later jobs of its user would find
            // half of its work.
            if !(no_answer && mem::take(&mut runs_again)) {
                break result;
            }
            tracing::debug!(
                kind = job.kind.name(),
                "a job got no answer of the store and runs again"
            );
        };
        let (settled, outcome) = outcome(&job, result, self.parts.journal.now());
        match &settled {
            Settled::Done(_) | Settled::Postponed(None, _) => {}
            Settled::Postponed(Some(reason), _)
            | Settled::Failed(reason, _)
            | Settled::Dead(reason) => {
                tracing::debug!(kind = job.kind.name(), tries = job.tries, reason, "a job failed");
            }
        }
        if let Some(outcome) = outcome {
            self.parts.writer.metrics.job_ended(job.kind.name(), outcome);
        }
        let now = self.parts.journal.now();
        if let Err(error) = self.parts.journal.write(move |c| settle(c, &job, &settled, now)).await
        {
            tracing::debug!(%error, "a job could not be settled");
            // Else it would be taken at once, again and again.
            tokio::time::sleep(JOURNAL_PAUSE).await;
        }
        // In this order, so that those who are notified find the lane free.
        drop(lane);
        self.parts.settled.notify_waiters();
    }

    /// Whether the store itself is away, and not only something in it.
    async fn store_is_away(&self) -> bool {
        let store = &self.parts.writer.store;
        // The store has its results from then on.
        if store.is_enabled() {
            let _ = store.check().await;
        }
        !store.is_enabled()
    }

    /// Counts what is owed. Returns when to count again if the last count is too recent.
    async fn count(&self, last: &mut Option<Instant>, running: usize) -> Option<Instant> {
        self.parts.writer.metrics.set_jobs(JobState::Running, running as u64);
        if let Some(last) = last.filter(|last| last.elapsed() < COUNT_PAUSE) {
            return Some(last + COUNT_PAUSE);
        }
        *last = Some(Instant::now());
        if let Ok(owed) = self.parts.journal.read(owed).await {
            self.show(&owed);
        }
        None
    }

    fn show(&self, owed: &Owed) {
        self.parts.writer.metrics.set_jobs(JobState::Pending, owed.pending);
        self.parts
            .writer
            .metrics
            .set_jobs(JobState::Dead, owed.dead.iter().map(|(_, count)| count).sum());
        for kind in JobKind::ALL.iter().map(|kind| kind.name()) {
            // Those that are gone must not stay in the figures.
            let dead = owed.dead.iter().find(|(name, _)| name == kind);
            self.parts.writer.metrics.set_dead_jobs(kind, dead.map_or(0, |(_, count)| *count));
        }
        let late = owed.first_due.map(|due| self.parts.journal.now().duration_since(due));
        self.parts
            .writer
            .metrics
            .set_lag(late.and_then(|late| late.try_into().ok()).unwrap_or_default());
    }
}

fn until(time: Timestamp, now: Timestamp) -> Duration {
    // A millisecond more: times in the tables are cut to milliseconds.
    time.duration_since(now).try_into().unwrap_or(Duration::ZERO) + Duration::from_millis(1)
}
