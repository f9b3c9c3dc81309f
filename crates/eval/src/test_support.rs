//! A memory and a scenario that the tests share.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::json;

use crate::{evaluation::Services, replay::Scenario};
use memgate_capture::{
    Bounds, Capture, Least, Retention, SessionRules, Settings, Tools, TurnTrail,
};
use memgate_config::MemoryConfig;
use memgate_core::{
    clock::Clock,
    memory::{MemoryStore, MemoryType},
};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_models::Models;
use memgate_recall::{AccessTracker, Recall};
use memgate_sqlite::Options;
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;

/// A memory with no file but the journal, and an embedder without a model.
pub(crate) fn services(folder: &Path) -> Services {
    let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::default());
    let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(256));
    let metrics = Metrics::new();
    let (time, clock) = Clock::settable(Clock::System.now());
    let settings = Settings {
        store_turns: true,
        tool_contents: false,
        extract_locally: false,
        extractor: None,
        extract_every: 10,
        sessions: SessionRules::default(),
        least: Least::default(),
        retention: Retention::default(),
        forget_grace: Duration::ZERO,
        policy: memgate_capture::Policy::default(),
        types: MemoryType::BUILT_IN.map(str::to_owned).to_vec(),
        screener: Default::default(),
    };
    let models = Models::for_embedder(embedder.space()).unwrap();
    let tools = Tools {
        store: store.clone(),
        embedder: embedder.clone(),
        models: models.clone(),
        audit: memgate_access::Audit::none(),
        metrics: metrics.clone(),
        trail: TurnTrail::off(),
        clock: clock.clone(),
    };
    let bounds = Bounds { queue: 64, workers: 1 };
    let journal = folder.join("journal.db");
    let capture = Capture::open(&journal, Options::default(), bounds, settings, tools).unwrap();
    let (access, _) = AccessTracker::new(store.clone());
    Services {
        config: MemoryConfig::default(),
        folder: folder.to_owned(),
        recall: Recall::new(store.clone(), embedder.clone(), models, access, metrics),
        store,
        embedder,
        capture: Arc::new(capture),
        clock,
        time,
    }
}

pub(crate) fn scenario(ask: &str) -> Scenario {
    serde_json::from_value(json!({
        "id": "s1", "lang": "en", "kind": "temporal",
        "sessions": [
            {"date": "2026-02-09T10:00:00Z", "turns": [
                {"user": "My dog Rex got his rabies vaccination", "assistant": "Good boy, Rex."},
                {"user": "thanks", "assistant": "You are welcome!"},
            ]},
            {"date": "2026-03-01T10:00:00Z", "turns": [
                {"user": "Where is Oslo?", "assistant": "In Norway."},
            ]},
        ],
        "ask": {"date": "2026-05-01T10:00:00Z", "turns": [], "user": ask},
        "must_recall": [["2026-02-09"]], "must_not_recall": [],
    }))
    .unwrap()
}
