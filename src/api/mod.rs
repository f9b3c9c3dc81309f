//! The REST API, health and metrics. `operations` does the work and knows no HTTP; the rest reads
//! requests and writes answers.
//!
//! This module must never know Envoy, a model server's wire format, or how a store keeps things.
//! Every operation names one user; there is no "all users", but for `/admin/…`, which shows operators
//! what the journal owes and never what anybody said.

mod auth;
mod cursor;
mod door;
mod error;
mod extract;
mod health;
mod ledger_view;
mod operations;
mod requests;
mod routes;
mod view;

#[cfg(test)]
mod tests;

use std::io;

use axum::Router;
use tokio::net::TcpListener;

pub use auth::Key;
pub use door::Door;
pub use error::{ApiError, ErrorBody, ErrorDetail};
pub use ledger_view::{JobView, JobsView, RetriedView, SessionView, SessionsView};
pub use operations::Operations;
pub use requests::{
    AllJobsRequest, CreateRequest, FlushRequest, ForgetRequest, JobsRequest, ListRequest,
    PatchRequest, RetryAllRequest, SearchRequest, SessionsRequest, Whose,
};
pub use routes::router;
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
