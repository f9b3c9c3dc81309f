//! Capture: opened, handed turns, and closed.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    backfill::{EMBED_REST, owe_vectors},
    intake::{InFlight, Intake, Scribe, screened},
    jobs::{Runner, Slots},
    journal::Journal,
    parts::Parts,
    settings::{Live, Settings},
    trail::TurnTrail,
    turn::FinishedTurn,
    writer::{MemoryWriter, Tools},
};
use memgate_core::memory::Owner;
use memgate_embed::llm::Helper;
use memgate_sqlite::{DatabaseError, Options};

/// The bounds of learning.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Finished turns that wait for the journal.
    pub queue: usize,
    /// Jobs that run at one time, and as many extractions besides; with 0 none
    /// runs, and the journal goes on owing them.
    pub workers: usize,
}

/// Learning from turns. Dropping it without [`Capture::shutdown`] is like a crash: what is in the
/// journal is kept, turns that waited for it are lost.
pub struct Capture {
    pub(super) parts: Arc<Parts>,
    pub(super) intake: Intake,
    pub(super) stop_intake: CancellationToken,
    pub(super) stop_runner: CancellationToken,
    pub(super) tasks: TaskTracker,
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
        let journal = Arc::new(Journal::open(file, options, tools.clock.clone())?);
        let parts = Arc::new(Parts {
            journal,
            writer: MemoryWriter::new(tools, settings.anonymous),
            live: Arc::new(Live::new(settings)),
            lanes: Arc::default(),
            exchanges: Arc::default(),
            wake: Arc::default(),
            settled: Notify::new(),
        });
        let tasks = TaskTracker::new();
        let (stop_intake, stop_runner) = (CancellationToken::new(), CancellationToken::new());
        let scribe = Scribe {
            journal: parts.journal.clone(),
            live: parts.live.clone(),
            metrics: parts.writer.metrics.clone(),
            trail: parts.writer.trail.clone(),
            wake: parts.wake.clone(),
            screen: Arc::new(screened),
            refused: false.into(),
        };
        let (intake, writing) = Intake::new(bounds.queue, scribe, stop_intake.clone());
        tasks.spawn(writing);
        if bounds.workers > 0 {
            let runner = Runner { parts: parts.clone(), slots: Slots::new(bounds.workers) };
            tasks.spawn(runner.run(stop_runner.clone()));
        }
        Ok(Self { parts, intake, stop_intake, stop_runner, tasks })
    }

    /// The trail of the latest turns.
    #[must_use]
    pub fn trail(&self) -> &TurnTrail {
        &self.parts.writer.trail
    }

    /// Takes other settings; they hold from the next turn and job on.
    pub fn reconfigure(&self, settings: Settings) {
        self.parts.live.set(settings);
        self.parts.wake.notify_one();
    }

    /// Extracts facts with this helper model from the next job on; `None`: with none.
    pub fn extract_with(&self, extractor: Option<Arc<Helper>>) {
        let settings = Settings { extractor, ..Settings::clone(&self.parts.live.get()) };
        self.reconfigure(settings);
    }

    /// An exchange has begun; until the guard is dropped, a flush may wait for it.
    pub fn exchange_begins(&self) -> InFlight {
        self.parts.exchanges.begin()
    }

    /// Hands a finished turn over. Never waits: over the queue's bounds the turn
    /// is shed and counted.
    pub fn offer(&self, turn: FinishedTurn, flight: InFlight) {
        self.intake.offer(turn, flight);
    }

    /// Has vectors made for memories that were stored without, as soon as that works again.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn owe_vectors(&self) -> Result<(), DatabaseError> {
        owe_vectors(&self.parts.journal, EMBED_REST).await?;
        self.parts.wake.notify_one();
        Ok(())
    }

    /// Ends a session, those of its turns included that wait for the journal.
    /// Returns how many turns it has; `None` when the owner has no such session.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn end_session(
        &self,
        owner: &Owner,
        session: &str,
    ) -> Result<Option<u64>, DatabaseError> {
        self.intake.barrier().await;
        let (rules, now) = (self.parts.live.rules(), self.parts.journal.now());
        let ended =
            self.parts.journal.end_session(owner.clone(), session.to_owned(), rules, now).await?;
        self.parts.wake.notify_one();
        Ok(ended.map(|ended| ended.turns.into()))
    }

    /// Has vectors made soon for the memories that have none. They are looked for from time to time
    /// anyway.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn make_vectors(&self) -> Result<(), DatabaseError> {
        owe_vectors(&self.parts.journal, Duration::ZERO).await?;
        self.parts.wake.notify_one();
        Ok(())
    }

    /// Whether the journal can be written now, found out by doing it.
    ///
    /// # Errors
    /// [`DatabaseError`] says why not.
    pub async fn check(&self) -> Result<(), DatabaseError> {
        self.parts.journal.check().await
    }

    /// Writes what waits into the journal and ends. Jobs that run are left: the
    /// journal owes them. Takes no longer than `patience`.
    pub async fn shutdown(&self, patience: Duration) {
        self.stop_intake.cancel();
        self.tasks.close();
        let orderly = tokio::time::timeout(patience, async {
            // The intake's task is over when this is answered or refused.
            self.intake.barrier().await;
            self.stop_runner.cancel();
            self.tasks.wait().await;
            self.parts.journal.close().await;
        });
        if orderly.await.is_err() {
            self.stop_runner.cancel();
            tracing::warn!("learning did not end in time; what the journal has is kept");
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.stop_runner.cancel();
    }
}
