//! Export and import, as JSON lines (docs/export.md).

use axum::{Json as Answer, response::Response};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::api::{
    ApiError, Export, ImportedView,
    auth::{Admin, Reader, Writer},
    read::{
        extract::Asked,
        requests::{ExportAllRequest, ExportRequest, ImportAllRequest, Whose},
    },
    routes::Answered,
    state::{ApiState, Open},
    streams::{self, JsonLines},
};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(export))
        .routes(routes!(import))
        .routes(routes!(export_all))
        .routes(routes!(import_all))
}

/// Exports a user's memories.
#[utoipa::path(
    get,
    path = "/v1/memory/export",
    tag = "transfer",
    params(Whose, ExportAllRequest),
    responses((status = 200, content_type = "application/x-ndjson", description = "A JSON object a line", body = String)),
)]
async fn export(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<ExportRequest>,
) -> Result<Response, ApiError> {
    streams::export(operations, Export::of(&caller, &request)?, request.all.limit.is_some()).await
}

/// Imports memories of a user.
#[utoipa::path(
    post,
    path = "/v1/memory/import",
    tag = "transfer",
    params(Whose),
    request_body(content = String, content_type = "application/x-ndjson", description = "An export"),
    responses((status = 200, description = "Done", body = ImportedView)),
)]
async fn import(
    Open(operations): Open,
    Writer(caller): Writer,
    Asked(whose): Asked<Whose>,
    JsonLines(body): JsonLines,
) -> Answered<ImportedView> {
    operations.import(&caller, Some(&whose), body).await.map(Answer)
}

/// Exports the memories of all users.
#[utoipa::path(
    get,
    path = "/admin/memory/export",
    tag = "transfer",
    params(ExportAllRequest),
    responses((status = 200, content_type = "application/x-ndjson", description = "A JSON object a line", body = String)),
)]
async fn export_all(
    Open(operations): Open,
    Admin(_): Admin,
    Asked(request): Asked<ExportAllRequest>,
) -> Result<Response, ApiError> {
    streams::export(operations, Export::of_everybody(&request)?, request.limit.is_some()).await
}

/// Imports memories of all users.
#[utoipa::path(
    post,
    path = "/admin/memory/import",
    tag = "transfer",
    request_body(content = String, content_type = "application/x-ndjson", description = "An export"),
    responses((status = 200, description = "Done", body = ImportedView)),
)]
async fn import_all(
    Open(operations): Open,
    Admin(caller): Admin,
    Asked(ImportAllRequest {}): Asked<ImportAllRequest>,
    JsonLines(body): JsonLines,
) -> Answered<ImportedView> {
    operations.import(&caller, None, body).await.map(Answer)
}
