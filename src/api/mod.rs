//! The REST API, health and metrics. `operations` does the work and knows no HTTP; the rest reads
//! requests and writes answers.
//!
//! This module must never know Envoy, a model server's wire format, or how a store keeps things.
//! Every operation names one user; there is no "all users", but for `/admin/…`, where operators see
//! what the journal owes, and take everybody's memories out and in.

mod auth;
mod cursor;
mod door;
mod error;
mod extract;
mod health;
mod ledger_view;
mod misfit;
mod operations;
mod reader;
mod requests;
mod routes;
mod streams;
mod transfer_view;
mod tree;
mod view;

#[cfg(test)]
mod tests;

use std::io;

use axum::Router;
use tokio::net::TcpListener;

pub use auth::Key;
pub use door::Door;
pub use error::{ApiError, ErrorBody, ErrorDetail};
pub use ledger_view::{
    ForgettingView, ForgettingsView, JobView, JobsView, RetriedView, SessionView, SessionsView,
    UndoneView,
};
pub use operations::{Export, Operations, Piece};
pub use requests::{
    AllJobsRequest, CreateRequest, ExportAllRequest, ExportRequest, FlushRequest, ForgetRequest,
    ImportAllRequest, JobsRequest, ListRequest, PatchRequest, RetryAllRequest, SearchRequest,
    SessionsRequest, Whose,
};
pub use routes::{health_router, router};
pub use transfer_view::{ImportedView, ProblemView, StatsView};
pub use view::{DeletedView, EndedView, FlushedView, HitView, HitsView, MemoriesView, MemoryView};

/// Serves until `shutdown`, then lets running requests end; bound the wait for that outside.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router).with_graceful_shutdown(shutdown).await
}
