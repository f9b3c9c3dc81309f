//! The routes: each parses the request, calls one operation and sends the response.

use std::sync::Arc;

use axum::{
    Json as Answer, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path},
    http::{StatusCode, request::Parts},
    middleware,
    response::Response,
    routing::{delete, get, post},
};

use crate::api::{
    ApiError, DeletedView, EndedView, Export, FlushedView, ForgettingsView, HitsView, ImportedView,
    JobView, JobsView, Key, MemoriesView, MemoryView, PreferenceView, PreferencesView, RetriedView,
    SessionsView, StatsView, UndoneView,
    access_view::{AuditView, CreatedKeyView, KeysView, RevokedView},
    auth::{self, Admin, Gate, Reader, Writer},
    health,
    read::access_requests::{AuditRequest, CreateKeyRequest, KeysRequest},
    read::{
        extract::{Asked, Json, MAX_BODY, Named},
        requests::{
            AllJobsRequest, CreateRequest, ExportAllRequest, ExportRequest, FlushRequest,
            ForgetRequest, ImportAllRequest, JobsRequest, ListRequest, PatchRequest,
            PreferencesRequest, RetryAllRequest, SearchRequest, SessionsRequest,
            SetPreferenceRequest, UnsetPreferenceRequest, Whose,
        },
    },
    state::{ApiState, Open},
    streams::{self, JsonLines},
};

type Answered<T> = Result<Answer<T>, ApiError>;

/// All routes. `key` is the one of the configuration.
pub fn router(state: ApiState, key: Option<Key>) -> Router {
    let gate = Arc::new(Gate::new(state.clone(), key));
    let users = Router::new()
        .route("/v1/memory", get(list).post(create).delete(forget_scope))
        .route("/v1/memory/search", post(search))
        .route("/v1/memory/flush", post(flush))
        .route("/v1/memory/stats", get(stats))
        .route("/v1/memory/export", get(export))
        .route("/v1/memory/import", post(import))
        .route("/v1/memory/{id}", get(one).patch(patch).delete(forget))
        .route("/v1/preferences", get(preferences).put(set_preference).delete(unset_preference))
        .route("/v1/forgettings", get(forgettings))
        .route("/v1/forgettings/{id}/undo", post(undo_forgetting))
        .route("/v1/sessions", get(sessions))
        .route("/v1/sessions/{id}/end", post(end_session))
        .route("/v1/jobs", get(jobs))
        .route("/v1/jobs/retry", post(retry_jobs))
        .route("/v1/jobs/{id}/retry", post(retry_job));
    let admin = Router::new()
        .route("/admin/memory/export", get(export_all))
        .route("/admin/memory/import", post(import_all))
        .route("/admin/jobs", get(all_jobs))
        .route("/admin/jobs/retry", post(retry_all_jobs))
        .route("/admin/keys", get(keys).post(create_key))
        .route("/admin/keys/{id}", delete(revoke_key))
        .route("/admin/audit", get(audit));
    let memories =
        users.merge(admin).route_layer(middleware::from_fn_with_state(gate, auth::check));
    finished(health_routes().merge(memories), state)
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
    Reader(caller): Reader,
    Asked(request): Asked<ListRequest>,
) -> Answered<MemoriesView> {
    operations.list(&caller, &request).await.map(Answer)
}

async fn create(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(request): Named<CreateRequest>,
) -> Result<(StatusCode, Answer<MemoryView>), ApiError> {
    let memory = operations.create(&caller, request).await?;
    Ok((StatusCode::CREATED, Answer(memory)))
}

async fn forget_scope(
    Open(operations): Open,
    Writer(caller): Writer,
    Asked(request): Asked<ForgetRequest>,
) -> Answered<DeletedView> {
    operations.forget_scope(&caller, &request).await.map(Answer)
}

async fn search(
    Open(operations): Open,
    Reader(caller): Reader,
    Named(request): Named<SearchRequest>,
) -> Answered<HitsView> {
    operations.search(&caller, &request).await.map(Answer)
}

async fn flush(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(request): Named<FlushRequest>,
) -> Answered<FlushedView> {
    operations.flush(&caller, &request).await.map(Answer)
}

async fn stats(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(whose): Asked<Whose>,
) -> Answered<StatsView> {
    operations.stats(&caller, &whose).await.map(Answer)
}

async fn export(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<ExportRequest>,
) -> Result<Response, ApiError> {
    streams::export(operations, Export::of(&caller, &request)?, request.all.limit.is_some()).await
}

async fn export_all(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(request): Asked<ExportAllRequest>,
) -> Result<Response, ApiError> {
    streams::export(operations, Export::of_everybody(&request)?, request.limit.is_some()).await
}

async fn import(
    Open(operations): Open,
    Writer(caller): Writer,
    Asked(whose): Asked<Whose>,
    JsonLines(body): JsonLines,
) -> Answered<ImportedView> {
    operations.import(&caller, Some(&whose), body).await.map(Answer)
}

async fn import_all(
    Open(operations): Open,
    Admin(caller): Admin,
    Asked(ImportAllRequest {}): Asked<ImportAllRequest>,
    JsonLines(body): JsonLines,
) -> Answered<ImportedView> {
    operations.import(&caller, None, body).await.map(Answer)
}

async fn one(
    Open(operations): Open,
    Reader(caller): Reader,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Answered<MemoryView> {
    operations.get(&caller, &id, &whose).await.map(Answer)
}

async fn patch(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
    Json(request): Json<PatchRequest>,
) -> Answered<MemoryView> {
    operations.patch(&caller, &id, &whose, request).await.map(Answer)
}

async fn forget(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Answered<DeletedView> {
    operations.forget(&caller, &id, &whose).await.map(Answer)
}

async fn preferences(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<PreferencesRequest>,
) -> Answered<PreferencesView> {
    operations.preferences(&caller, &request).await.map(Answer)
}

async fn set_preference(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(request): Named<SetPreferenceRequest>,
) -> Answered<PreferenceView> {
    operations.set_preference(&caller, request).await.map(Answer)
}

async fn unset_preference(
    Open(operations): Open,
    Writer(caller): Writer,
    Asked(request): Asked<UnsetPreferenceRequest>,
) -> Answered<DeletedView> {
    operations.unset_preference(&caller, &request).await.map(Answer)
}

async fn forgettings(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(whose): Asked<Whose>,
) -> Answered<ForgettingsView> {
    operations.forgettings(&caller, &whose).await.map(Answer)
}

async fn undo_forgetting(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Named(whose): Named<Whose>,
) -> Answered<UndoneView> {
    operations.undo_forgetting(&caller, &id, &whose).await.map(Answer)
}

async fn end_session(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Named(whose): Named<Whose>,
) -> Answered<EndedView> {
    operations.end_session(&caller, &id, &whose).await.map(Answer)
}

async fn sessions(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<SessionsRequest>,
) -> Answered<SessionsView> {
    operations.sessions(&caller, &request).await.map(Answer)
}

async fn jobs(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<JobsRequest>,
) -> Answered<JobsView> {
    operations.jobs(&caller, &request).await.map(Answer)
}

async fn retry_job(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Named(whose): Named<Whose>,
) -> Answered<JobView> {
    operations.retry_job(&caller, &id, &whose).await.map(Answer)
}

async fn retry_jobs(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(whose): Named<Whose>,
) -> Answered<RetriedView> {
    operations.retry_jobs(&caller, &whose).await.map(Answer)
}

async fn all_jobs(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(request): Asked<AllJobsRequest>,
) -> Answered<JobsView> {
    operations.all_jobs(&request).await.map(Answer)
}

/// A JSON body is required, so that no web page can send this without permission.
async fn retry_all_jobs(
    Open(operations): Open,
    Admin(caller): Admin,
    Json(RetryAllRequest {}): Json<RetryAllRequest>,
) -> Answered<RetriedView> {
    operations.retry_all_jobs(&caller).await.map(Answer)
}

async fn keys(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(KeysRequest {}): Asked<KeysRequest>,
) -> Answer<KeysView> {
    Answer(operations.keys())
}

async fn create_key(
    Open(operations): Open,
    Admin(caller): Admin,
    Json(request): Json<CreateKeyRequest>,
) -> Result<(StatusCode, Answer<CreatedKeyView>), ApiError> {
    Ok((StatusCode::CREATED, Answer(operations.create_key(&caller, request).await?)))
}

async fn revoke_key(
    Open(operations): Open,
    Admin(caller): Admin,
    Id(id): Id,
) -> Answered<RevokedView> {
    operations.revoke_key(&caller, &id).await.map(Answer)
}

async fn audit(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(request): Asked<AuditRequest>,
) -> Answered<AuditView> {
    operations.audit_log(&request).await.map(Answer)
}
