//! Recall and capture on one store, joined as start-up joins them, for tests and benches that need both.

use std::{path::Path, sync::Arc};

use memgate_access::Audit;
use memgate_capture::{Bounds, Capture, Settings, Tools, TurnTrail, may_be_kept_whole};
use memgate_core::{clock::Clock, memory::MemoryStore};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_models::Models;
use memgate_recall::{AccessTracker, Recall, RecallTrail, TrailSettings};
use memgate_sqlite::Options;
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;

/// Options of a world. By default it is an empty store in memory and an embedder without a model;
/// turns are stored and nothing is extracted.
pub struct WorldOptions {
    /// Where memories are kept.
    pub store: Arc<dyn MemoryStore>,
    /// Makes vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Settings of learning.
    pub settings: Settings,
    /// Turns that may wait, and jobs that run at a time.
    pub bounds: Bounds,
    /// How the journal is written.
    pub journal: Options,
    /// Where forgetting is recorded.
    pub audit: Audit,
    /// How many requests and turns are kept with their reasons; `None`: none.
    pub trail: Option<TrailSettings>,
    /// Metrics of all parts.
    pub metrics: Arc<Metrics>,
    /// Tells the time.
    pub clock: Clock,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self {
            store: Arc::new(InMemoryStore::new()),
            embedder: Arc::new(DeterministicEmbedder::new(64)),
            settings: Settings::default(),
            bounds: Bounds { queue: 64, workers: 2 },
            journal: Options::default(),
            audit: Audit::none(),
            trail: None,
            metrics: Metrics::new(),
            clock: Clock::System,
        }
    }
}

/// Recall and capture, and what both work with.
pub struct World {
    /// Where memories are kept.
    pub store: Arc<dyn MemoryStore>,
    /// Makes vectors.
    pub embedder: Arc<dyn Embedder>,
    /// The trained models for the embedder.
    pub models: Arc<Models>,
    /// Finds memories.
    pub recall: Recall,
    /// Learns.
    pub capture: Arc<Capture>,
    /// Metrics of all parts.
    pub metrics: Arc<Metrics>,
    /// Tells the time.
    pub clock: Clock,
}

impl World {
    /// A world whose journal lies in a folder, on the runtime of the caller. Access counts are not written.
    #[must_use]
    pub fn open(folder: &Path, options: WorldOptions) -> Self {
        let WorldOptions {
            store,
            embedder,
            settings,
            bounds,
            journal,
            audit,
            trail,
            metrics,
            clock,
        } = options;
        let models = Models::for_embedder(embedder.space()).unwrap();
        let tools = Tools {
            store: store.clone(),
            embedder: embedder.clone(),
            models: models.clone(),
            audit,
            metrics: metrics.clone(),
            trail: trail
                .map_or_else(TurnTrail::off, |it| TurnTrail::new(it.requests, it.bytes, None)),
            clock: clock.clone(),
        };
        let (file, screener) = (folder.join("journal.db"), settings.screener);
        let capture = Capture::open(&file, journal, bounds, settings, tools).unwrap();
        let (access, _) = AccessTracker::new(store.clone());
        let mut recall =
            Recall::new(store.clone(), embedder.clone(), models.clone(), access, metrics.clone());
        if let Some(settings) = trail {
            let may_store = move |message: &str| may_be_kept_whole(message, screener);
            let (trail, keeping) = RecallTrail::new(settings, None, Arc::new(may_store));
            tokio::spawn(keeping);
            recall = recall.with_trail(trail);
        }
        Self { store, embedder, models, recall, capture: Arc::new(capture), metrics, clock }
    }
}
