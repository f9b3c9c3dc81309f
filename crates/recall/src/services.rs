//! What the stages of recall work with.

use std::sync::Arc;

use crate::{
    query::Rewriter,
    state::{AccessTracker, ToolLoopCache},
    trail::RecallTrail,
};
use memgate_core::memory::MemoryStore;
use memgate_embed::Embedder;
use memgate_models::Models;
use memgate_telemetry::Metrics;

/// The services of recall; clones share them.
#[derive(Clone)]
pub(super) struct Services {
    /// Where memories are kept.
    pub(super) store: Arc<dyn MemoryStore>,
    /// Makes vectors of queries.
    pub(super) embedder: Arc<dyn Embedder>,
    /// The id of the embedder's space.
    pub(super) space: Arc<str>,
    /// The trained models for this space.
    pub(super) models: Arc<Models>,
    /// The model that helps to find, where one is configured.
    pub(super) rewriter: Option<Rewriter>,
    /// Counts how often memories are presented.
    pub(super) access: AccessTracker,
    /// The contexts of open tool loops.
    pub(super) tool_loops: Arc<ToolLoopCache>,
    /// Metrics of every stage.
    pub(super) metrics: Arc<Metrics>,
    /// What was done for the latest requests.
    pub(super) trail: RecallTrail,
}
