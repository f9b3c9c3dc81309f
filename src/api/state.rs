//! Access to the operations, which exist only once the data folder is open.

use std::sync::{Arc, OnceLock};

use crate::api::Operations;
use memgate_config::Live;
use memgate_telemetry::Metrics;

/// State shared by all routes: configuration and metrics from the start, operations once the data
/// folder is open.
#[derive(Clone)]
pub struct ApiState {
    /// The current configuration.
    pub(super) config: Live,
    /// The metrics.
    pub(super) metrics: Arc<Metrics>,
    operations: Arc<OnceLock<Operations>>,
}

impl ApiState {
    /// Creates the state without operations: every operation answers 503.
    #[must_use]
    pub fn new(config: Live, metrics: Arc<Metrics>) -> Self {
        Self { config, metrics, operations: Arc::default() }
    }

    /// Makes the operations available; a second call changes nothing.
    pub fn open(&self, operations: Operations) {
        let _ = self.operations.set(operations);
    }

    pub(super) fn operations(&self) -> Option<&Operations> {
        self.operations.get()
    }
}
