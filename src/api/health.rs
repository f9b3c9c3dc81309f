//! Health, readiness and metrics; none of them needs the key.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tokio::time::timeout;

use crate::api::{Operations, state::ApiState};
use memgate_telemetry::METRICS_CONTENT_TYPE;

/// Timeout of each part's check.
const PATIENCE: Duration = Duration::from_secs(2);

/// `/healthz`: liveness of the process.
pub(super) async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok", service: "memgate", version: env!("CARGO_PKG_VERSION") })
}

/// The answer of `/healthz`.
#[derive(Serialize)]
pub(super) struct Alive {
    status: &'static str,
    /// Lets the command line recognise memgate at a port.
    service: &'static str,
    version: &'static str,
}

/// `/metrics`.
pub(super) async fn metrics(State(state): State<ApiState>) -> Response {
    ([(header::CONTENT_TYPE, METRICS_CONTENT_TYPE)], state.metrics.encode()).into_response()
}

/// The answer of `/readyz`.
#[derive(Serialize)]
pub(super) struct Ready {
    status: &'static str,
    store: String,
    embedder: String,
    journal: String,
    /// The identity mode: `production` or `development`.
    identity_mode: &'static str,
}

/// `/readyz`: checks store, embedder and journal by using them. If only the journal works, memgate
/// is degraded: requests pass, and turns are learned from later.
pub(super) async fn ready(State(state): State<ApiState>) -> Response {
    let (store, embedder, journal) = match state.operations() {
        Some(operations) => {
            let Operations { store, embedder, capture, .. } = operations;
            tokio::join!(works(store.check()), works(embedder.check()), works(capture.check()))
        }
        None => (Err("not open".into()), Ok(()), Err("not open".into())),
    };
    state.metrics.set_embedder_up(embedder.is_ok());
    let all = store.is_ok() && embedder.is_ok() && journal.is_ok();
    let told = |part: Result<(), String>| part.err().unwrap_or_else(|| "ok".to_owned());
    let body = Ready {
        status: match &journal {
            Ok(()) if all => "ready",
            Ok(()) => "degraded",
            Err(_) => "not ready",
        },
        store: told(store),
        embedder: told(embedder),
        journal: told(journal),
        identity_mode: state.config.get().memory.identity.mode.as_str(),
    };
    let status = if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

async fn works<E: std::fmt::Display>(
    check: impl Future<Output = Result<(), E>>,
) -> Result<(), String> {
    match timeout(PATIENCE, check).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no response within {} s", PATIENCE.as_secs())),
    }
}
