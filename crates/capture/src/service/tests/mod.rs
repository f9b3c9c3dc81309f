//! Capture as a whole, on real SQLite files.
mod crash;
mod drift;
mod edits;
mod facts;
mod forget;
mod grace;
mod limits;
mod meaning;
mod orders;
mod outage;
mod preferences;
mod prune;
mod reconcile;
mod statements;
mod summaries;
mod trail;
mod turns;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    Bounds, Capture, Flushed, Forget, Policy, Retention, SessionKey, SessionRules, Settings, Tools,
    journal,
    test_support::{Said, at, owner, settings},
};
use memgate_core::{
    clock::{Clock, SettableTime},
    memory::{ListQuery, Memory, MemoryStore, Owner, ScopeQuery},
};
use memgate_embed::{
    EmbedError, Embedder, Space, Vector, deterministic::DeterministicEmbedder, llm::Helper,
};
use memgate_models::Models;
use memgate_sqlite::Options;
use memgate_store::{SqliteOptions, SqliteStore};
use memgate_telemetry::Metrics;

/// Long enough for a machine that does much else; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// An embedder that can be broken, or held up.
pub(super) struct Doll {
    inner: DeterministicEmbedder,
    pub(super) broken: AtomicBool,
    /// Requests pass one by one when it has permits; closed, all pass.
    pub(super) gate: tokio::sync::Semaphore,
    pub(super) waiting: tokio::sync::watch::Sender<Vec<String>>,
}

impl Doll {
    fn new(open: bool) -> Arc<Self> {
        let gate = tokio::sync::Semaphore::new(0);
        if open {
            gate.close();
        }
        Arc::new(Self {
            inner: DeterministicEmbedder::new(256),
            broken: false.into(),
            gate,
            waiting: tokio::sync::watch::Sender::default(),
        })
    }

    /// Waits until so many requests have come, and returns the texts of all.
    pub(super) async fn asked(&self, count: usize) -> Vec<String> {
        let mut waiting = self.waiting.subscribe();
        let asked = waiting.wait_for(|texts| texts.len() >= count);
        tokio::time::timeout(PATIENCE, asked).await.unwrap().unwrap().clone()
    }
}

#[async_trait]
impl Embedder for Doll {
    fn space(&self) -> &Space {
        self.inner.space()
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.inner.embed_query(text).await
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.waiting.send_modify(|waiting| waiting.extend(texts.first().cloned()));
        if let Ok(permit) = self.gate.acquire().await {
            permit.forget();
        }
        if self.broken.load(Ordering::SeqCst) {
            return Err(EmbedError::Failed("broken".into()));
        }
        if texts.iter().any(|text| text == UNFIT) {
            return Err(EmbedError::Refused("unfit".into()));
        }
        self.inner.embed_passages(texts).await
    }
}

/// A text that the doll makes no vector of.
pub(super) const UNFIT: &str = "I like what cannot be embedded";

/// A capture with what it works on, in a folder of its own.
pub(super) struct House {
    pub(super) capture: Capture,
    pub(super) store: Arc<SqliteStore>,
    pub(super) doll: Arc<Doll>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) folder: Arc<tempfile::TempDir>,
    pub(super) clock: Clock,
}

impl House {
    pub(super) fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::in_folder(folder, settings(None), Doll::new(true), 64)
    }

    pub(super) fn learning(extractor: Helper) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::in_folder(folder, settings(Some(extractor)), Doll::new(true), 64)
    }

    pub(super) fn in_folder(
        folder: Arc<tempfile::TempDir>,
        settings: Settings,
        doll: Arc<Doll>,
        queue: usize,
    ) -> Self {
        Self::with_bounds(folder, settings, doll, Bounds { queue, workers: 2 })
    }

    pub(super) fn with_bounds(
        folder: Arc<tempfile::TempDir>,
        settings: Settings,
        doll: Arc<Doll>,
        bounds: Bounds,
    ) -> Self {
        Self::behind(folder, settings, doll, bounds, |store, _| store)
    }

    /// A house with a clock that the test sets; it shows `at(0)` first.
    pub(super) fn with_settable_clock(settings: Settings) -> (SettableTime, Self) {
        let (time, clock) = Clock::settable(at(0));
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let bounds = Bounds { queue: 64, workers: 2 };
        let house =
            Self::opened(folder, settings, Doll::new(true), bounds, clock, |store, _| store);
        (time, house)
    }

    /// The same, with something between capture and the store.
    pub(super) fn behind(
        folder: Arc<tempfile::TempDir>,
        settings: Settings,
        doll: Arc<Doll>,
        bounds: Bounds,
        between: impl FnOnce(Arc<dyn MemoryStore>, &Arc<Metrics>) -> Arc<dyn MemoryStore>,
    ) -> Self {
        Self::opened(folder, settings, doll, bounds, Clock::System, between)
    }

    fn opened(
        folder: Arc<tempfile::TempDir>,
        settings: Settings,
        doll: Arc<Doll>,
        bounds: Bounds,
        clock: Clock,
        between: impl FnOnce(Arc<dyn MemoryStore>, &Arc<Metrics>) -> Arc<dyn MemoryStore>,
    ) -> Self {
        let file = folder.path().join("memory.db");
        let store = Arc::new(SqliteStore::open(&file, SqliteOptions::default()).unwrap());
        let metrics = Metrics::new();
        let tools = Tools {
            audit: memgate_access::Audit::none(),
            store: between(store.clone(), &metrics),
            embedder: doll.clone(),
            models: Models::for_embedder(doll.space()).unwrap(),
            metrics: metrics.clone(),
            trail: crate::TurnTrail::new(100, 1 << 20, None),
            clock: clock.clone(),
        };
        let journal = folder.path().join("journal.db");
        let capture = Capture::open(&journal, Options::default(), bounds, settings, tools).unwrap();
        Self { capture, store, doll, metrics, folder, clock }
    }

    /// Opens the folder again after this house has gone without a word.
    pub(super) fn crash_and_open(self) -> Self {
        let folder = self.folder.clone();
        drop(self);
        Self::in_folder(folder, settings(None), Doll::new(true), 64)
    }

    /// Hands an exchange over that takes place now.
    pub(super) fn offer(&self, mut said: Said) {
        (said.of.began, said.of.ended) = (self.clock.now(), self.clock.now());
        let flight = self.capture.exchange_begins();
        let turn = said.turn();
        flight.known(&turn.owner);
        self.capture.offer(turn, flight);
    }

    pub(super) async fn flush(&self, user: &str) -> Flushed {
        self.capture.flush(&owner(user), PATIENCE).await.unwrap()
    }

    pub(super) async fn memories(&self, user: &str) -> Vec<Memory> {
        self.memories_of(owner(user)).await
    }

    pub(super) async fn memories_of(&self, owner: Owner) -> Vec<Memory> {
        let query = ListQuery {
            scope: ScopeQuery::of(owner),
            filter: None,
            limit: 100,
            cursor: None,
            now: self.clock.now(),
        };
        let mut memories = self.store.list(&query).await.unwrap().memories;
        memories.sort_by(|a, b| a.content.cmp(&b.content));
        memories
    }

    pub(super) async fn contents(&self, user: &str) -> Vec<String> {
        self.memories(user).await.iter().map(|memory| memory.text().into_owned()).collect()
    }

    /// Waits until the user has so many memories.
    pub(super) async fn until_memories(&self, user: &str, count: usize) -> Vec<String> {
        let contents = || async {
            let contents = self.contents(user).await;
            (contents.len() >= count).then_some(contents)
        };
        eventually(contents).await
    }

    pub(super) fn shows(&self, line: &str) -> bool {
        self.metrics.encode().lines().any(|shown| shown == line)
    }

    /// Waits until the metrics show this line.
    pub(super) async fn until_shows(&self, line: &str) {
        eventually(|| async { self.shows(line).then_some(()) }).await;
    }

    /// The value that the metrics show under this name with its labels; 0 where they show no such
    /// line.
    pub(super) fn counted(&self, name: &str) -> u64 {
        let shown = self.metrics.encode();
        let figure = shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        figure.map_or(0, |figure| figure.parse().unwrap())
    }

    /// Waits until the metrics count as many under this name, or more.
    pub(super) async fn until_counted(&self, name: &str, least: u64) {
        eventually(|| async { (self.counted(name) >= least).then_some(()) }).await;
    }

    /// Waits until no file of the folder holds these bytes.
    pub(super) async fn until_nowhere(&self, needle: &str) {
        eventually(|| async { (!anywhere(self.folder.path(), needle)).then_some(()) }).await;
    }
}

/// Looks again and again until there is something.
pub(super) async fn eventually<T, F: Future<Output = Option<T>>>(look: impl Fn() -> F) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, found).await.unwrap()
}

/// Whether any file of a folder holds these bytes.
pub(super) fn anywhere(folder: &Path, needle: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}
