//! Capture: finished turns into the journal, and from there into memories, in
//! the background.
//!
//! Nothing here is waited for by a request. It must never know Envoy, a wire
//! format beyond the dialect's neutral view, or how a store keeps things.
//!
//! The way of a turn: [`Capture::offer`] → `intake` (bounded queue, screening) →
//! `journal` (durable, with the jobs it owes) → `worker` → `extract` → the store.

mod admission;
mod drift;
mod extract;
mod flush;
mod grace;
mod inflight;
mod intake;
mod journal;
mod keep;
mod lanes;
mod learn;
mod limited;
mod nearest;
mod orders;
mod origins;
mod overview;
mod pruning;
mod reconcile;
mod sayings;
mod says;
mod session;
mod settings;
mod summarise;
mod trigger;
mod turn;
mod work;
mod worker;

#[cfg(test)]
mod kit;
#[cfg(test)]
mod tests;

use std::{path::Path, sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    embed::Embedder,
    memory::{Memory, MemoryStore, Owner},
    models::Models,
    sqlite::{DatabaseError, Options},
    telemetry::Metrics,
};

pub use admission::{Refusal, refusal_of_content};
#[cfg(fuzzing)]
pub use extract::llm::fuzz as fuzz_helper_answer;
pub use extract::wishes::is_standing as is_standing_wish;
pub use extract::{gate::may_become_memory, local::Ruled};
pub use flush::Flushed;
use inflight::Exchanges;
pub use inflight::InFlight;
use intake::{Intake, Scribe};
pub use journal::{Forget, Forgetting, JobQuery, JobRow, JobStanding, SessionRow, SessionState};
use journal::{Journal, lanes_of};
pub use keep::Backfill;
use keep::Keeper;
use lanes::{Held, Lanes};
use origins::Origins;
pub use reconcile::Policy;
pub(crate) use reconcile::{Judged, judged, told};
pub use sayings::{is_of_one_turn, is_word_for_word, sayings};
pub use session::{Place, SessionKey};
use settings::Live;
pub use settings::{Least, Retention, SessionRules, Settings};
pub use summarise::ForgetError;
use summarise::Summaries;
pub use turn::{Circumstances, FinishedTurn, JournaledTurn};
use work::{EMBED_REST, Workbench};
use worker::{Slots, Worker};

/// The bounds of learning.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Finished turns that wait for the journal.
    pub queue: usize,
    /// Jobs that run at one time, and as many extractions besides; with 0 none
    /// runs, and the journal goes on owing them.
    pub workers: usize,
}

/// What capture works with.
pub struct Tools {
    /// Where memories go.
    pub store: Arc<dyn MemoryStore>,
    /// What makes their vectors.
    pub embedder: Arc<dyn Embedder>,
    /// The trained models for that embedder.
    pub models: Arc<Models>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
}

/// Learning from turns. Dropping it without [`Capture::shutdown`] is what a
/// crash does: what the journal has is kept, what waited for it is lost.
pub struct Capture {
    exchanges: Arc<Exchanges>,
    intake: Intake,
    journal: Arc<Journal>,
    summaries: Summaries,
    live: Arc<Live>,
    lanes: Arc<Lanes>,
    /// Wakes the worker.
    wake: Arc<Notify>,
    /// Tells that a job was settled.
    settled: Arc<Notify>,
    stop_intake: CancellationToken,
    stop_worker: CancellationToken,
    tasks: TaskTracker,
}

/// What the journal tells in time.
async fn lent(
    read: impl Future<Output = Result<Vec<JournaledTurn>, DatabaseError>>,
    deadline: Instant,
) -> Vec<JournaledTurn> {
    match timeout_at(deadline, read).await {
        Ok(Ok(turns)) => turns,
        Ok(Err(error)) => {
            tracing::debug!(%error, "the turns before cannot be read");
            Vec::new()
        }
        Err(_) => {
            tracing::debug!("the turns before were read too late");
            Vec::new()
        }
    }
}

impl Capture {
    /// Opens the journal and starts to work off what it owes. Blocks while it
    /// opens; must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be opened.
    pub fn open(
        file: &Path,
        options: Options,
        bounds: Bounds,
        settings: Settings,
        tools: Tools,
    ) -> Result<Self, DatabaseError> {
        let journal = Arc::new(Journal::open(file, options)?);
        let live = Arc::new(Live::new(settings));
        let (wake, settled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (lanes, tasks) = (Arc::new(Lanes::default()), TaskTracker::new());
        let (stop_intake, stop_worker) = (CancellationToken::new(), CancellationToken::new());
        let metrics = tools.metrics.clone();
        let scribe = Scribe {
            journal: journal.clone(),
            live: live.clone(),
            metrics: metrics.clone(),
            wake: wake.clone(),
            refused: false.into(),
        };
        let (intake, writing) = Intake::new(bounds.queue, scribe, stop_intake.clone());
        tasks.spawn(writing);
        let exchanges = Arc::<Exchanges>::default();
        let bench = Workbench {
            journal: journal.clone(),
            live: live.clone(),
            lanes: lanes.clone(),
            exchanges: exchanges.clone(),
            keeper: Keeper {
                store: tools.store.clone(),
                embedder: tools.embedder,
                models: tools.models,
                metrics: metrics.clone(),
            },
        };
        let worker = (bounds.workers > 0).then(|| Worker {
            journal: journal.clone(),
            bench,
            lanes: lanes.clone(),
            metrics,
            wake: wake.clone(),
            settled: settled.clone(),
            slots: Slots::new(bounds.workers),
        });
        if let Some(worker) = worker {
            tasks.spawn(worker.run(stop_worker.clone()));
        }
        Ok(Self {
            exchanges,
            intake,
            summaries: Summaries { store: tools.store, journal: journal.clone() },
            journal,
            live,
            lanes,
            wake,
            settled,
            stop_intake,
            stop_worker,
            tasks,
        })
    }

    /// Takes other settings; they hold from the next turn and job on.
    pub fn reconfigure(&self, settings: Settings) {
        self.live.set(settings);
        self.wake.notify_one();
    }

    /// An exchange has begun; until the guard is dropped, a flush may wait for it.
    pub fn exchange_begins(&self) -> InFlight {
        self.exchanges.begin()
    }

    /// Hands a finished turn over. Never waits: over the queue's bounds the turn
    /// is shed and counted.
    pub fn offer(&self, turn: FinishedTurn, flight: InFlight) {
        self.intake.offer(turn, flight);
    }

    /// The last `count` turns of the chain that ends with a response, oldest
    /// first, only among the owner's own. Empty when the journal cannot tell.
    /// A client may be faster than the journal: while other exchanges than the
    /// one of this request may bring the turn there, they are waited for, no
    /// longer than `patience`.
    pub async fn chain_turns(
        &self,
        owner: &Owner,
        response_id: &str,
        count: usize,
        request_id: Option<&str>,
        patience: Duration,
    ) -> Vec<JournaledTurn> {
        let deadline = Instant::now() + patience;
        loop {
            let changed = self.exchanges.changed();
            tokio::pin!(changed);
            // Both before looking, or what ends in between would be missed.
            changed.as_mut().enable();
            let may_come = self.exchanges.any_other(owner, request_id);
            let (of, id) = (owner.clone(), response_id.to_owned());
            let read = self.journal.read(move |c| journal::chain(c, &of, &id, count));
            let turns = lent(read, deadline).await;
            if !turns.is_empty() || !may_come {
                return turns;
            }
            if timeout_at(deadline, changed).await.is_err() {
                return turns;
            }
        }
    }

    /// The last `count` turns of an owner's session, oldest first, for requests whose history the
    /// model server keeps. Empty when the journal cannot tell within `patience`; a turn that is on
    /// its way into the journal is not waited for, since nothing tells whether there is one.
    pub async fn session_turns(
        &self,
        owner: &Owner,
        session: &SessionKey,
        count: usize,
        patience: Duration,
    ) -> Vec<JournaledTurn> {
        let (owner, name) = (owner.clone(), session.name().to_owned());
        let read = self.journal.read(move |c| journal::of_session(c, &owner, &name, count));
        lent(read, Instant::now() + patience).await
    }

    /// Has vectors made for memories that were stored without, as soon as that works again.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn owe_vectors(&self) -> Result<(), DatabaseError> {
        let now = Timestamp::now();
        self.journal.write(move |c| journal::ask_for_vectors(c, now, EMBED_REST)).await?;
        self.wake.notify_one();
        Ok(())
    }

    /// Ends a session, those of its turns included that wait for the journal.
    /// Tells how many turns it has; `None` when the owner has no such session.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn end_session(
        &self,
        owner: &Owner,
        session: &str,
    ) -> Result<Option<u64>, DatabaseError> {
        self.intake.barrier().await;
        let (rules, now) = (self.live.rules(), Timestamp::now());
        let ended = self.journal.end_session(owner.clone(), session.to_owned(), rules, now).await?;
        self.wake.notify_one();
        Ok(ended.map(|ended| ended.turns.into()))
    }

    /// Has vectors made soon for the memories that have none. They are looked for from time to time
    /// anyway.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn make_vectors(&self) -> Result<(), DatabaseError> {
        let now = Timestamp::now();
        self.journal.write(move |c| journal::ask_for_vectors(c, now, Duration::ZERO)).await?;
        self.wake.notify_one();
        Ok(())
    }

    /// Forgets turns and what they owe, those included that wait for the
    /// journal; tells how many. Of a scope, exchanges that have begun are not
    /// learnt from any more. Call it before the memories are forgotten in the
    /// store: when it answers, no job will write what came from them.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn forget_turns(&self, owner: &Owner, what: Forget) -> Result<u64, DatabaseError> {
        self.exchanges.forget(owner, &what);
        self.exchanges.forget_turns(self.journal.to_forget(owner, [&what]).await?);
        // What was said before it is forgotten is forgotten too.
        self.intake.barrier().await;
        let held = self.hold_lanes(owner).await;
        let forgotten = self.journal.forget(owner.clone(), what).await;
        drop(held);
        // What was stopped may be owed still.
        self.wake.notify_one();
        forgotten
    }

    /// Keeps an owner's jobs from running: one may hold a text that is to be forgotten. Waited
    /// for by whoever wants it, since all other users' turns pass meanwhile.
    async fn hold_lanes(&self, owner: &Owner) -> Vec<Held> {
        let mut held = Vec::new();
        for lane in lanes_of(owner) {
            held.push(self.lanes.hold(&lane).await);
        }
        held
    }

    /// Forgets what a memory was made of, given all its versions: the turns that said
    /// it, or in which its facts were found; and what else was made of these
    /// together, the summaries of their sessions.
    ///
    /// # Errors
    /// [`ForgetError`] when journal or store cannot be written; asked again it goes on.
    pub async fn forget_sources(&self, versions: &[Memory]) -> Result<(), ForgetError> {
        let Some(owner) = versions.first().map(|version| &version.owner) else { return Ok(()) };
        let origins = Origins::of(versions);
        self.exchanges.forget_turns(self.journal.to_forget(owner, &origins.turns).await?);
        self.intake.barrier().await;
        let held = self.hold_lanes(owner).await;
        let forgotten = self.summaries.forget_origins(owner, &origins).await;
        drop(held);
        self.wake.notify_one();
        forgotten.map(|_| ())
    }

    /// Values that belong to sessions.
    #[must_use]
    pub fn session_state(&self) -> &dyn SessionState {
        self.journal.as_ref()
    }

    /// Whether the journal can be written now, found out by doing it.
    ///
    /// # Errors
    /// [`DatabaseError`] says why not.
    pub async fn check(&self) -> Result<(), DatabaseError> {
        self.journal.check().await
    }

    /// Writes what waits into the journal and ends. Jobs that run are left: the
    /// journal owes them. Takes no longer than `patience`.
    pub async fn shutdown(&self, patience: Duration) {
        self.stop_intake.cancel();
        self.tasks.close();
        let orderly = tokio::time::timeout(patience, async {
            // The intake's task is over when this is answered or refused.
            self.intake.barrier().await;
            self.stop_worker.cancel();
            self.tasks.wait().await;
            self.journal.close().await;
        });
        if orderly.await.is_err() {
            self.stop_worker.cancel();
            tracing::warn!("learning did not end in time; what the journal has is kept");
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.stop_worker.cancel();
    }
}
