//! The routes: each parses the request, calls one operation and sends the response.

use axum::{
    Json as Answer, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path},
    http::{StatusCode, request::Parts},
    middleware,
    response::Response,
    routing::{get, post},
};

use crate::api::{
    ApiError, DeletedView, EndedView, Export, FlushedView, ForgettingsView, HitsView, ImportedView,
    JobView, JobsView, Key, MemoriesView, MemoryView, RetriedView, SessionsView, StatsView,
    UndoneView, auth, health,
    read::{
        extract::{Asked, Json, MAX_BODY, RequestId},
        requests::{
            AllJobsRequest, CreateRequest, ExportAllRequest, ExportRequest, FlushRequest,
            ForgetRequest, ImportAllRequest, JobsRequest, ListRequest, PatchRequest,
            RetryAllRequest, SearchRequest, SessionsRequest, Whose,
        },
    },
    state::{ApiState, Open},
    streams::{self, JsonLines},
};

type Answered<T> = Result<Answer<T>, ApiError>;

/// All routes. If there is a `key`, `/v1/…` requires it; `/admin/…` always does.
pub fn router(state: ApiState, key: Option<Key>) -> Router {
    let users = Router::new()
        .route("/v1/memory", get(list).post(create).delete(forget_scope))
        .route("/v1/memory/search", post(search))
        .route("/v1/memory/flush", post(flush))
        .route("/v1/memory/stats", get(stats))
        .route("/v1/memory/export", get(export))
        .route("/v1/memory/import", post(import))
        .route("/v1/memory/{id}", get(one).patch(patch).delete(forget))
        .route("/v1/forgettings", get(forgettings))
        .route("/v1/forgettings/{id}/undo", post(undo_forgetting))
        .route("/v1/sessions", get(sessions))
        .route("/v1/sessions/{id}/end", post(end_session))
        .route("/v1/jobs", get(jobs))
        .route("/v1/jobs/retry", post(retry_jobs))
        .route("/v1/jobs/{id}/retry", post(retry_job))
        .route_layer(middleware::from_fn_with_state(key.clone(), auth::check));
    let admin = Router::new()
        .route("/admin/memory/export", get(export_all))
        .route("/admin/memory/import", post(import_all))
        .route("/admin/jobs", get(all_jobs))
        .route("/admin/jobs/retry", post(retry_all_jobs))
        .route_layer(middleware::from_fn_with_state(key, auth::check_admin));
    finished(health_routes().merge(users).merge(admin), state)
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

async fn list(
    Open(operations): Open,
    Asked(request): Asked<ListRequest>,
) -> Answered<MemoriesView> {
    operations.list(&request).await.map(Answer)
}

async fn create(
    Open(operations): Open,
    RequestId(request_id): RequestId,
    Json(request): Json<CreateRequest>,
) -> Result<(StatusCode, Answer<MemoryView>), ApiError> {
    let memory = operations.create(request, request_id).await?;
    Ok((StatusCode::CREATED, Answer(memory)))
}

async fn forget_scope(
    Open(operations): Open,
    RequestId(request_id): RequestId,
    Asked(request): Asked<ForgetRequest>,
) -> Answered<DeletedView> {
    operations.forget_scope(&request, request_id).await.map(Answer)
}

async fn search(Open(operations): Open, Json(request): Json<SearchRequest>) -> Answered<HitsView> {
    operations.search(&request).await.map(Answer)
}

async fn flush(Open(operations): Open, Json(request): Json<FlushRequest>) -> Answered<FlushedView> {
    operations.flush(&request).await.map(Answer)
}

async fn stats(Open(operations): Open, Asked(whose): Asked<Whose>) -> Answered<StatsView> {
    operations.stats(&whose).await.map(Answer)
}

async fn export(
    Open(operations): Open,
    Asked(request): Asked<ExportRequest>,
) -> Result<Response, ApiError> {
    streams::export(operations, Export::of(&request)?, request.limit.is_some()).await
}

async fn export_all(
    Open(operations): Open,
    Asked(request): Asked<ExportAllRequest>,
) -> Result<Response, ApiError> {
    streams::export(operations, Export::of_everybody(&request)?, request.limit.is_some()).await
}

async fn import(
    Open(operations): Open,
    RequestId(request_id): RequestId,
    Asked(whose): Asked<Whose>,
    JsonLines(body): JsonLines,
) -> Answered<ImportedView> {
    operations.import(Some(whose.owner()?), body, request_id).await.map(Answer)
}

async fn import_all(
    Open(operations): Open,
    RequestId(request_id): RequestId,
    Asked(ImportAllRequest {}): Asked<ImportAllRequest>,
    JsonLines(body): JsonLines,
) -> Answered<ImportedView> {
    operations.import(None, body, request_id).await.map(Answer)
}

async fn one(
    Open(operations): Open,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Answered<MemoryView> {
    operations.get(&id, &whose).await.map(Answer)
}

async fn patch(
    Open(operations): Open,
    RequestId(request_id): RequestId,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
    Json(request): Json<PatchRequest>,
) -> Answered<MemoryView> {
    operations.patch(&id, &whose, request, request_id).await.map(Answer)
}

async fn forget(
    Open(operations): Open,
    RequestId(request_id): RequestId,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Answered<DeletedView> {
    operations.forget(&id, &whose, request_id).await.map(Answer)
}

async fn forgettings(
    Open(operations): Open,
    Asked(whose): Asked<Whose>,
) -> Answered<ForgettingsView> {
    operations.forgettings(&whose).await.map(Answer)
}

async fn undo_forgetting(
    Open(operations): Open,
    Id(id): Id,
    Json(whose): Json<Whose>,
) -> Answered<UndoneView> {
    operations.undo_forgetting(&id, &whose).await.map(Answer)
}

async fn end_session(
    Open(operations): Open,
    Id(id): Id,
    Json(whose): Json<Whose>,
) -> Answered<EndedView> {
    operations.end_session(&id, &whose).await.map(Answer)
}

async fn sessions(
    Open(operations): Open,
    Asked(request): Asked<SessionsRequest>,
) -> Answered<SessionsView> {
    operations.sessions(&request).await.map(Answer)
}

async fn jobs(Open(operations): Open, Asked(request): Asked<JobsRequest>) -> Answered<JobsView> {
    operations.jobs(&request).await.map(Answer)
}

async fn retry_job(
    Open(operations): Open,
    Id(id): Id,
    Json(whose): Json<Whose>,
) -> Answered<JobView> {
    operations.retry_job(&id, &whose).await.map(Answer)
}

async fn retry_jobs(Open(operations): Open, Json(whose): Json<Whose>) -> Answered<RetriedView> {
    operations.retry_jobs(&whose).await.map(Answer)
}

async fn all_jobs(
    Open(operations): Open,
    Asked(request): Asked<AllJobsRequest>,
) -> Answered<JobsView> {
    operations.all_jobs(&request).await.map(Answer)
}

/// A JSON body is required, so that no web page can send this without permission.
async fn retry_all_jobs(
    Open(operations): Open,
    Json(RetryAllRequest {}): Json<RetryAllRequest>,
) -> Answered<RetriedView> {
    operations.retry_all_jobs().await.map(Answer)
}
