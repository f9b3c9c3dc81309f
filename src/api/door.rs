//! The way from a route to the operations, which exist only once the data folder could be opened.

use std::sync::{Arc, OnceLock};

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};

use super::{ApiError, Operations};
use crate::{config::Live, telemetry::Metrics};

/// What all routes share: the figures at once, the operations once there are any.
#[derive(Clone)]
pub struct Door {
    /// The configuration as it is now.
    pub(super) config: Live,
    /// Counters.
    pub(super) metrics: Arc<Metrics>,
    operations: Arc<OnceLock<Operations>>,
}

impl Door {
    /// A door that is still closed: every operation answers 503.
    #[must_use]
    pub fn closed(config: Live, metrics: Arc<Metrics>) -> Self {
        Self { config, metrics, operations: Arc::default() }
    }

    /// Lets callers in; the second time changes nothing.
    pub fn open(&self, operations: Operations) {
        let _ = self.operations.set(operations);
    }

    pub(super) fn operations(&self) -> Option<&Operations> {
        self.operations.get()
    }
}

/// The operations, or 503.
pub(super) struct Open(pub Operations);

impl FromRequestParts<Door> for Open {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, door: &Door) -> Result<Self, ApiError> {
        let unavailable = || {
            let message = "the store is not open yet; memgate goes on trying";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message)
        };
        door.operations().cloned().map(Self).ok_or_else(unavailable)
    }
}
