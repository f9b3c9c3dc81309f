//! The services that the stages of recall share.

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
pub(crate) struct Services {
    /// Where memories are kept.
    pub(crate) store: Arc<dyn MemoryStore>,
    /// Makes vectors of queries.
    pub(crate) embedder: Arc<dyn Embedder>,
    /// The id of the embedder's space.
    pub(crate) space: Arc<str>,
    /// The trained models for this space.
    pub(crate) models: Arc<Models>,
    /// The model that helps to find, where one is configured.
    pub(crate) rewriter: Option<Rewriter>,
    /// Counts how often memories are presented.
    pub(crate) access: AccessTracker,
    /// The contexts of open tool loops.
    pub(crate) tool_loops: Arc<ToolLoopCache>,
    /// Metrics of every stage.
    pub(crate) metrics: Arc<Metrics>,
    /// The trail of the latest requests.
    pub(crate) trail: RecallTrail,
}
