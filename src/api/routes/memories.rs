//! A user's memories.

use axum::{Json as Answer, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::api::{
    ApiError, DeletedView, HitsView, MemoriesView, MemoryView, StatsView,
    auth::{Reader, Writer},
    read::{
        extract::{Asked, Json, Named},
        requests::{
            CreateRequest, ForgetFilter, ForgetRequest, ListFilter, ListRequest, Paging,
            PatchRequest, SearchRequest, Whose,
        },
    },
    routes::{Answered, Id},
    state::{ApiState, Open},
};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list, create, forget_scope))
        .routes(routes!(search))
        .routes(routes!(stats))
        .routes(routes!(one, patch, forget))
}

/// Lists memories, the newest first.
#[utoipa::path(
    get,
    path = "/v1/memory",
    tag = "memories",
    params(Whose, ListFilter, Paging),
    responses((status = 200, description = "Done", body = MemoriesView)),
)]
async fn list(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<ListRequest>,
) -> Answered<MemoriesView> {
    operations.list(&caller, &request).await.map(Answer)
}

/// Stores a memory.
#[utoipa::path(
    post,
    path = "/v1/memory",
    tag = "memories",
    request_body = CreateRequest,
    responses((status = 201, description = "Created", body = MemoryView)),
)]
async fn create(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(request): Named<CreateRequest>,
) -> Result<(StatusCode, Answer<MemoryView>), ApiError> {
    let memory = operations.create(&caller, request).await?;
    Ok((StatusCode::CREATED, Answer(memory)))
}

/// Deletes all memories of a user, or of one project.
#[utoipa::path(
    delete,
    path = "/v1/memory",
    tag = "memories",
    params(Whose, ForgetFilter),
    responses((status = 200, description = "Done", body = DeletedView)),
)]
async fn forget_scope(
    Open(operations): Open,
    Writer(caller): Writer,
    Asked(request): Asked<ForgetRequest>,
) -> Answered<DeletedView> {
    operations.forget_scope(&caller, &request).await.map(Answer)
}

/// Searches memories by meaning and words.
#[utoipa::path(
    post,
    path = "/v1/memory/search",
    tag = "memories",
    request_body = SearchRequest,
    responses((status = 200, description = "Done", body = HitsView)),
)]
async fn search(
    Open(operations): Open,
    Reader(caller): Reader,
    Named(request): Named<SearchRequest>,
) -> Answered<HitsView> {
    operations.search(&caller, &request).await.map(Answer)
}

/// Counts memories.
#[utoipa::path(
    get,
    path = "/v1/memory/stats",
    tag = "memories",
    params(Whose),
    responses((status = 200, description = "Done", body = StatsView)),
)]
async fn stats(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(whose): Asked<Whose>,
) -> Answered<StatsView> {
    operations.stats(&caller, &whose).await.map(Answer)
}

/// One memory.
#[utoipa::path(
    get,
    path = "/v1/memory/{id}",
    tag = "memories",
    params(("id" = String, Path, description = "Its id"), Whose),
    responses((status = 200, description = "Done", body = MemoryView)),
)]
async fn one(
    Open(operations): Open,
    Reader(caller): Reader,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Answered<MemoryView> {
    operations.get(&caller, &id, &whose).await.map(Answer)
}

/// Changes a memory.
#[utoipa::path(
    patch,
    path = "/v1/memory/{id}",
    tag = "memories",
    params(("id" = String, Path, description = "Its id"), Whose),
    request_body = PatchRequest,
    responses((status = 200, description = "Done", body = MemoryView)),
)]
async fn patch(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
    Json(request): Json<PatchRequest>,
) -> Answered<MemoryView> {
    operations.patch(&caller, &id, &whose, request).await.map(Answer)
}

/// Deletes a memory.
#[utoipa::path(
    delete,
    path = "/v1/memory/{id}",
    tag = "memories",
    params(("id" = String, Path, description = "Its id"), Whose),
    responses((status = 200, description = "Done", body = DeletedView)),
)]
async fn forget(
    Open(operations): Open,
    Writer(caller): Writer,
    Id(id): Id,
    Asked(whose): Asked<Whose>,
) -> Answered<DeletedView> {
    operations.forget(&caller, &id, &whose).await.map(Answer)
}
