//! Two searches of the store side by side: of the user's own memories, and of what others share. The second never costs the
//! first: it has half of the time that is left, and where it fails or is late, the request goes on without it.

use tokio::time::{Instant, timeout_at};

use crate::{request::RecallRequest, services::Services};
use memgate_core::memory::{Evidence, ScopeQuery, Search, StoreError};

/// The evidence for a search of what the request may see, the assistant's long answers only where `answers` says so; none where the user's own memories were not found in time.
pub(super) async fn search_beside(
    services: &Services,
    request: &RecallRequest<'_>,
    mut search: Search,
    answers: bool,
) -> Option<Result<Vec<Evidence>, StoreError>> {
    search.scopes = vec![ScopeQuery { answers, ..request.scope() }];
    search.shared = None;
    let own = timeout_at(request.deadline, services.store.retrieve(&search));
    let (own, shared) = tokio::join!(own, shared(services, request, &search));
    Some(own.ok()?.map(|own| own.into_iter().chain(shared).collect()))
}

/// The evidence in what others share; nothing where that is not searched, fails or is late.
async fn shared(services: &Services, request: &RecallRequest<'_>, own: &Search) -> Vec<Evidence> {
    let Some(shared) = request.shared() else { return Vec::new() };
    let search = Search { scopes: Vec::new(), shared: Some(shared), ..own.clone() };
    let now = Instant::now();
    let until = now + request.deadline.saturating_duration_since(now) / 2;
    match timeout_at(until, services.store.retrieve(&search)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::debug!(%error, "what others share cannot be searched, skipping it");
            services.metrics.failed("shared");
            Vec::new()
        }
        Err(_) => {
            tracing::debug!("the search of what others share is late, skipping it");
            services.metrics.failed("shared");
            Vec::new()
        }
    }
}
