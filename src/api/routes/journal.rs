//! A user's sessions, jobs and requests to forget.

use axum::Json as Answer;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::api::{
    EndedView, FlushedView, ForgettingsView, JobView, JobsView, RetriedView, SessionsView,
    UndoneView,
    auth::{Reader, Writer},
    read::{
        extract::{Asked, Named},
        requests::{FlushRequest, JobFilter, JobsRequest, Paging, SessionsRequest, Whose},
    },
    routes::{Answered, Id},
    state::{ApiState, Open},
};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(flush))
        .routes(routes!(forgettings))
        .routes(routes!(undo_forgetting))
        .routes(routes!(sessions))
        .routes(routes!(end_session))
        .routes(routes!(jobs))
        .routes(routes!(retry_jobs))
        .routes(routes!(retry_job))
}

/// Ends the user's sessions and waits for their jobs.
#[utoipa::path(
    post,
    path = "/v1/memory/flush",
    tag = "journal",
    request_body = FlushRequest,
    responses((status = 200, description = "Done", body = FlushedView)),
)]
async fn flush(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(request): Named<FlushRequest>,
) -> Answered<FlushedView> {
    operations.flush(&caller, &request).await.map(Answer)
}

/// Lists the requests to forget that can still be undone.
#[utoipa::path(
    get,
    path = "/v1/forgettings",
    tag = "journal",
    params(Whose),
    responses((status = 200, description = "Done", body = ForgettingsView)),
)]
async fn forgettings(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(whose): Asked<Whose>,
) -> Answered<ForgettingsView> {
    operations.forgettings(&caller, &whose).await.map(Answer)
}

/// Restores what a request to forget has hidden.
#[utoipa::path(
    post,
    path = "/v1/forgettings/{id}/undo",
    tag = "journal",
    params(("id" = String, Path, description = "Its id")),
    request_body = Whose,
    responses((status = 200, description = "Done", body = UndoneView)),
)]
async fn undo_forgetting(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Named(whose): Named<Whose>,
) -> Answered<UndoneView> {
    operations.undo_forgetting(&caller, &id, &whose).await.map(Answer)
}

/// Lists sessions, the latest started first.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    tag = "journal",
    params(Whose, Paging),
    responses((status = 200, description = "Done", body = SessionsView)),
)]
async fn sessions(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<SessionsRequest>,
) -> Answered<SessionsView> {
    operations.sessions(&caller, &request).await.map(Answer)
}

/// Ends a session.
#[utoipa::path(
    post,
    path = "/v1/sessions/{id}/end",
    tag = "journal",
    params(("id" = String, Path, description = "Its id")),
    request_body = Whose,
    responses((status = 200, description = "Done", body = EndedView)),
)]
async fn end_session(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Named(whose): Named<Whose>,
) -> Answered<EndedView> {
    operations.end_session(&caller, &id, &whose).await.map(Answer)
}

/// Lists jobs, the newest first.
#[utoipa::path(
    get,
    path = "/v1/jobs",
    tag = "journal",
    params(Whose, JobFilter, Paging),
    responses((status = 200, description = "Done", body = JobsView)),
)]
async fn jobs(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<JobsRequest>,
) -> Answered<JobsView> {
    operations.jobs(&caller, &request).await.map(Answer)
}

/// Runs all dead jobs of the user again.
#[utoipa::path(
    post,
    path = "/v1/jobs/retry",
    tag = "journal",
    request_body = Whose,
    responses((status = 200, description = "Done", body = RetriedView)),
)]
async fn retry_jobs(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(whose): Named<Whose>,
) -> Answered<RetriedView> {
    operations.retry_jobs(&caller, &whose).await.map(Answer)
}

/// Runs a dead job again.
#[utoipa::path(
    post,
    path = "/v1/jobs/{id}/retry",
    tag = "journal",
    params(("id" = String, Path, description = "Its id")),
    request_body = Whose,
    responses((status = 200, description = "Done", body = JobView)),
)]
async fn retry_job(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Named(whose): Named<Whose>,
) -> Answered<JobView> {
    operations.retry_job(&caller, &id, &whose).await.map(Answer)
}
