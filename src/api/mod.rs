//! The REST API, health and metrics. `operations` does the work without HTTP; the rest parses
//! requests and writes responses.
//!
//! It must not depend on Envoy, on wire formats of models, or on how a store works. Every operation
//! names one user within reach of its caller; only `/admin/…` covers all users, for operators: jobs,
//! export, import, keys and the audit log.

mod access_view;
mod auth;
mod cursor;
mod error;
mod health;
mod journal_view;
mod openapi;
mod operations;
mod preference_view;
pub(crate) mod read;
mod routes;
mod state;
mod streams;
mod transfer_view;
mod view;

#[cfg(test)]
pub(crate) mod tests;

use std::{io, net::SocketAddr};

use axum::{
    Router,
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};

pub use access_view::{AuditEntryView, AuditView, CreatedKeyView, KeyView, KeysView, RevokedView};
pub use auth::{Caller, Key, Peer};
pub use error::{ApiError, ErrorBody, ErrorDetail};
pub use journal_view::{
    ForgettingView, ForgettingsView, JobView, JobsView, RetriedView, SessionView, SessionsView,
    UndoneView,
};
pub use openapi::openapi;
pub use operations::{Export, Operations, Piece};
pub use preference_view::{PreferenceView, PreferencesView};
pub use read::access_requests::{AuditRequest, CreateKeyRequest, KeysRequest};
pub use read::requests::{
    AllJobsRequest, CreateRequest, ExportAllRequest, ExportRequest, FlushRequest, ForgetRequest,
    ImportAllRequest, JobsRequest, ListRequest, NewPreference, PatchRequest, PreferenceScope,
    PreferencesRequest, RetryAllRequest, SearchRequest, SessionsRequest, SetPreferenceRequest,
    UnsetPreference, UnsetPreferenceRequest, Whose,
};
pub use routes::{health_router, router};
pub use state::ApiState;
pub use transfer_view::{ImportedView, ProblemView, StatsView};
pub use view::{DeletedView, EndedView, FlushedView, HitView, HitsView, MemoriesView, MemoryView};

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
