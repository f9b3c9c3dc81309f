//! The routes: each parses the request, calls one operation and sends the response. What each of them says of itself makes
//! docs/openapi.json.

mod journal;
mod memories;
mod operators;
mod preferences;
mod transfer;

use std::sync::Arc;

use axum::{
    Json as Answer, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path},
    http::{StatusCode, request::Parts},
    middleware,
    routing::get,
};
use utoipa_axum::router::OpenApiRouter;

use crate::api::{
    ApiError, Key,
    auth::{self, Gate},
    health,
    read::extract::MAX_BODY,
    state::ApiState,
};

type Answered<T> = Result<Answer<T>, ApiError>;

/// All routes. `key` is the one of the configuration.
pub fn router(state: ApiState, key: Option<Key>) -> Router {
    let gate = Arc::new(Gate::new(state.clone(), key));
    let (memories, _) = described().split_for_parts();
    let memories = memories.route_layer(middleware::from_fn_with_state(gate, auth::check));
    finished(health_routes().merge(memories), state)
}

/// The routes that need a key or a verified user, with what they say of themselves.
pub(super) fn described() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .merge(memories::routes())
        .merge(preferences::routes())
        .merge(journal::routes())
        .merge(transfer::routes())
        .merge(operators::routes())
}

/// Health and metrics only, for a listener that others than API clients can reach.
pub fn health_router(state: ApiState) -> Router {
    finished(health_routes(), state)
}

fn health_routes() -> Router<ApiState> {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
}

fn finished(routes: Router<ApiState>, state: ApiState) -> Router {
    routes
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(state)
}

async fn no_route() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown_route", "no such route")
}

async fn no_method() -> ApiError {
    let message = "this route does not support this method";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

/// The id in the path.
struct Id(String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(ApiError::invalid("id", "must be UTF-8")),
        }
    }
}
