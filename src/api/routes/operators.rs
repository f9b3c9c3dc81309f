//! For operators: jobs of all users, keys and the audit log.

use axum::{Json as Answer, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::api::{
    ApiError, JobsView, RetriedView,
    access_view::{AuditView, CreatedKeyView, KeysView, RevokedView},
    auth::Admin,
    read::{
        access_requests::{AuditRequest, CreateKeyRequest, KeysRequest},
        extract::{Asked, Json},
        requests::{AllJobsRequest, JobFilter, Paging, RetryAllRequest},
    },
    routes::{Answered, Id},
    state::{ApiState, Open},
};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(all_jobs))
        .routes(routes!(retry_all_jobs))
        .routes(routes!(keys, create_key))
        .routes(routes!(revoke_key))
        .routes(routes!(audit))
}

/// Lists the jobs of all users, the newest first.
#[utoipa::path(
    get,
    path = "/admin/jobs",
    tag = "operators",
    params(JobFilter, Paging),
    responses((status = 200, description = "Done", body = JobsView)),
)]
async fn all_jobs(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(request): Asked<AllJobsRequest>,
) -> Answered<JobsView> {
    operations.all_jobs(&request).await.map(Answer)
}

/// Runs all dead jobs again.
///
/// A JSON body is required, so that no web page can send this without permission.
#[utoipa::path(
    post,
    path = "/admin/jobs/retry",
    tag = "operators",
    request_body = RetryAllRequest,
    responses((status = 200, description = "Done", body = RetriedView)),
)]
async fn retry_all_jobs(
    Open(operations): Open,
    Admin(caller): Admin,
    Json(RetryAllRequest {}): Json<RetryAllRequest>,
) -> Answered<RetriedView> {
    operations.retry_all_jobs(&caller).await.map(Answer)
}

/// Lists the keys that were not revoked, the oldest first.
#[utoipa::path(
    get,
    path = "/admin/keys",
    tag = "operators",
    responses((status = 200, description = "Done", body = KeysView)),
)]
async fn keys(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(KeysRequest {}): Asked<KeysRequest>,
) -> Answer<KeysView> {
    Answer(operations.keys())
}

/// Creates a key; no other answer shows it.
#[utoipa::path(
    post,
    path = "/admin/keys",
    tag = "operators",
    request_body = CreateKeyRequest,
    responses((status = 201, description = "Created", body = CreatedKeyView)),
)]
async fn create_key(
    Open(operations): Open,
    Admin(caller): Admin,
    Json(request): Json<CreateKeyRequest>,
) -> Result<(StatusCode, Answer<CreatedKeyView>), ApiError> {
    Ok((StatusCode::CREATED, Answer(operations.create_key(&caller, request).await?)))
}

/// Revokes a key.
#[utoipa::path(
    delete,
    path = "/admin/keys/{id}",
    tag = "operators",
    params(("id" = String, Path, description = "Its id")),
    responses((status = 200, description = "Done", body = RevokedView)),
)]
async fn revoke_key(
    Open(operations): Open,
    Admin(caller): Admin,
    Id(id): Id,
) -> Answered<RevokedView> {
    operations.revoke_key(&caller, &id).await.map(Answer)
}

/// Lists entries of the audit log, the newest first.
#[utoipa::path(
    get,
    path = "/admin/audit",
    tag = "operators",
    params(AuditRequest),
    responses((status = 200, description = "Done", body = AuditView)),
)]
async fn audit(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(request): Asked<AuditRequest>,
) -> Answered<AuditView> {
    operations.audit_log(&request).await.map(Answer)
}
