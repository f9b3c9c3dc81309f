//! A memory and a scenario that the tests share.

use std::{path::Path, sync::Arc};

use serde_json::json;

use crate::{evaluation::Services, replay::Scenario};
use memgate_config::MemoryConfig;
use memgate_core::clock::Clock;
use memgate_embed::deterministic::DeterministicEmbedder;
use memgate_testing::{World, WorldOptions};

/// A memory with no file but the journal, and an embedder without a model.
pub(crate) fn services(folder: &Path) -> Services {
    let (time, clock) = Clock::settable(Clock::System.now());
    let embedder = Arc::new(DeterministicEmbedder::new(256));
    let World { store, embedder, recall, capture, clock, .. } =
        World::open(folder, WorldOptions { embedder, clock, ..WorldOptions::default() });
    let (config, folder) = (MemoryConfig::default(), folder.to_owned());
    Services { config, folder, recall, store, embedder, capture, clock, time }
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
