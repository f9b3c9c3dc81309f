//! Whether memgate lives, whether memory works, and the figures. None of it needs the key.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tokio::time::timeout;

use super::{Operations, door::Door};
use crate::telemetry::METRICS_CONTENT_TYPE;

/// The longest one part may take to show that it works.
const PATIENCE: Duration = Duration::from_secs(2);

/// `/healthz`: the process answers.
pub(super) async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok", service: "memgate", version: env!("CARGO_PKG_VERSION") })
}

/// The answer of `/healthz`.
#[derive(Serialize)]
pub(super) struct Alive {
    status: &'static str,
    /// So that the command line knows whom it found at a port.
    service: &'static str,
    version: &'static str,
}

/// `/metrics`.
pub(super) async fn metrics(State(door): State<Door>) -> Response {
    ([(header::CONTENT_TYPE, METRICS_CONTENT_TYPE)], door.metrics.encode()).into_response()
}

/// The answer of `/readyz`.
#[derive(Serialize)]
pub(super) struct Ready {
    status: &'static str,
    store: String,
    embedder: String,
    journal: String,
    /// Whose word about the user counts: `production` or `development`.
    identity_mode: &'static str,
}

/// `/readyz`: store, embedder and journal do real work now. With the journal alone memgate is
/// degraded: requests pass, and what is said is learnt later.
pub(super) async fn ready(State(door): State<Door>) -> Response {
    let (store, embedder, journal) = match door.operations() {
        Some(operations) => {
            let Operations { store, embedder, capture, .. } = operations;
            tokio::join!(works(store.check()), works(embedder.check()), works(capture.check()))
        }
        None => (Err("not open".into()), Ok(()), Err("not open".into())),
    };
    door.metrics.set_embedder_up(embedder.is_ok());
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
        identity_mode: door.config.get().memory.identity.mode.as_str(),
    };
    let status = if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

async fn works<E: std::fmt::Display>(
    check: impl Future<Output = Result<(), E>>,
) -> Result<(), String> {
    match timeout(PATIENCE, check).await {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}
