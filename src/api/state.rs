//! Access to the operations, which exist only once the data folder is open.

use std::sync::{Arc, OnceLock};

use crate::api::{Operations, caller::Key};
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
    local_key: Arc<OnceLock<Key>>,
}

impl ApiState {
    /// Creates the state without operations: every operation answers 503.
    #[must_use]
    pub fn new(config: Live, metrics: Arc<Metrics>) -> Self {
        Self { config, metrics, operations: Arc::default(), local_key: Arc::default() }
    }

    /// Makes the operations available; a second call changes nothing.
    pub fn open(&self, operations: Operations) {
        let _ = self.operations.set(operations);
    }

    /// Lets a key manage API keys from this machine; a second call changes nothing. It is for those who may read the data
    /// folder, who could do so anyhow while memgate is stopped.
    pub fn trust_local(&self, key: Key) {
        let _ = self.local_key.set(key);
    }

    pub(super) fn local_key(&self) -> Option<&Key> {
        self.local_key.get()
    }

    pub(super) fn operations(&self) -> Option<&Operations> {
        self.operations.get()
    }
}
