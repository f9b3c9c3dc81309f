//! Access to the operations, which exist only once the data folder is open.

use std::sync::{Arc, OnceLock};

use axum::{extract::FromRequestParts, http::request::Parts};

use crate::api::{ApiError, Operations};
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
    /// Creates the state without operations: every route that needs them answers 503.
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

/// Extracts the operations, or answers 503.
pub(super) struct Open(pub Operations);

impl FromRequestParts<ApiState> for Open {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        state.operations().cloned().map(Self).ok_or_else(ApiError::not_open)
    }
}
