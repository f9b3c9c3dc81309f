//! The REST API, health and metrics. `table` has an entry for each operation, and `operations` does the work without
//! HTTP. Routes, authorisation, OpenAPI and the command line are made of the table.
//!
//! It must not depend on Envoy, on wire formats of models, or on how a store works. Every operation
//! names one user within reach of its caller; only `/admin/…` covers all users, for operators: jobs,
//! export, import, keys and the audit log. `dashboard` serves the pages that show all this in a browser.

mod auth;
mod caller;
mod cursor;
mod dashboard;
mod error;
mod health;
mod openapi;
mod operation;
mod operations;
mod output;
pub(crate) mod read;
mod routes;
mod state;
pub mod table;
mod views;

#[cfg(test)]
pub(crate) mod tests;

use std::{io, net::SocketAddr};

use axum::{
    Router,
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};

pub use auth::Peer;
pub use caller::{Caller, Key};
pub use error::{ApiError, ErrorBody, ErrorDetail};
pub use openapi::openapi;
pub use operation::{Entry, Operation, RequestOf, ViewOf, Visitor};
pub use operations::{DecisionStream, Operations, Streams, TextWork};
pub use output::{LineStream, Output, Tagged};
pub use read::{
    description::Description,
    headers::{Headed, Header, IdempotencyKey, IfMatch, WithHeader},
    input::{Body, Input, LineReader, Lines, OfId, Query, Sent, WithId, WithLines},
    requests::*,
};
pub use routes::{health_router, router};
pub use state::ApiState;
pub use views::*;

/// Serves until `shutdown`, then lets running requests finish; the caller limits that time.
///
/// # Errors
/// When the listener fails.
pub async fn serve<L: Listener<Addr = SocketAddr>>(
    listener: L,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    Peer: for<'a> Connected<IncomingStream<'a, L>>,
{
    let service = router.into_make_service_with_connect_info::<Peer>();
    axum::serve(listener, service).with_graceful_shutdown(shutdown).await
}
