//! The routes: one for each operation of the table, and those that are none: health, metrics, the description of the
//! API and the dashboard.

use std::sync::{Arc, LazyLock};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Request, State},
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodFilter, get, on},
};
use utoipa::openapi::OpenApi;

use crate::api::{
    ApiError, Caller, Key,
    auth::{self, Gate},
    dashboard, health,
    openapi::openapi,
    operation::{Operation, Visitor},
    output::Output,
    read::{extract::MAX_BODY, input::Input},
    state::ApiState,
    table,
};
use memgate_access::Scope;
use memgate_telemetry::PanicIn;

/// All routes. `key` is the one of the configuration.
pub fn router(state: ApiState, key: Option<Key>) -> Router {
    let gate = Arc::new(Gate::new(state.clone(), key));
    let mut routes = Routes(Router::new());
    table::visit(&mut routes);
    let operations = routes.0.route_layer(middleware::from_fn_with_state(gate, auth::check));
    let open = health_routes().route("/openapi.json", get(description)).merge(dashboard::routes());
    finished(open.merge(operations), state)
}

/// Health and metrics only, for a listener that others than API clients can reach.
pub fn health_router(state: ApiState) -> Router {
    finished(health_routes(), state)
}

/// The routes of the operations.
struct Routes(Router<ApiState>);

impl Visitor for Routes {
    fn visit<O: Operation>(&mut self) {
        let method = match O::ENTRY.method {
            Method::POST => MethodFilter::POST,
            Method::PUT => MethodFilter::PUT,
            Method::PATCH => MethodFilter::PATCH,
            Method::DELETE => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        };
        let others = std::mem::take(&mut self.0);
        self.0 = others.route(O::ENTRY.path, on(method, answer::<O>));
    }
}

/// Answers a request to an operation.
async fn answer<O: Operation>(
    State(state): State<ApiState>,
    request: Request,
) -> Result<Response, ApiError> {
    let operations = state.operations().ok_or_else(ApiError::not_open)?;
    let caller = Caller::permitted(request.extensions(), O::ENTRY.scope)?;
    if O::ENTRY.scope != Scope::Read {
        O::Input::check_query_of_write(&request)?;
    }
    let request = O::Input::read(request).await?;
    let answer = O::run(operations, &caller, request).await?;
    Ok(answer.respond(O::ENTRY.status))
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
        .layer(middleware::from_fn_with_state(state.clone(), answer_panics))
        .with_state(state)
}

/// Answers 500 to a request that panics. Else its connection would break off, and with it others' requests of a proxy.
async fn answer_panics(State(state): State<ApiState>, request: Request, next: Next) -> Response {
    let answer = state.metrics.catch_async(PanicIn::Api, next.run(request)).await;
    answer.unwrap_or_else(|| ApiError::internal().into_response())
}

/// `/openapi.json`, which needs no key: it shows nothing that is stored.
async fn description() -> Json<&'static OpenApi> {
    static DESCRIPTION: LazyLock<OpenApi> = LazyLock::new(openapi);
    Json(&DESCRIPTION)
}

async fn no_route() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown_route", "no such route")
}

async fn no_method() -> ApiError {
    let message = "this route does not support this method";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}
