//! The routes: each reads what was asked, calls one operation and answers.

use axum::{
    Json as Answer, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path},
    http::{StatusCode, request::Parts},
    middleware,
    routing::{get, post},
};

use super::{
    ApiError, CreateRequest, DeletedView, EndedView, FlushRequest, FlushedView, ForgetRequest,
    HitsView, Key, ListRequest, MemoriesView, MemoryView, PatchRequest, SearchRequest, Whose, auth,
    door::{Door, Open},
    extract::{Asked, Json, MAX_BODY, RequestId},
    health,
};

type Answered<T> = Result<Answer<T>, ApiError>;

/// All routes. With a `key`, `/v1/…` is for those who send it.
pub fn router(door: Door, key: Option<Key>) -> Router {
    let v1 = Router::new()
        .route("/v1/memory", get(list).post(create).delete(forget_scope))
        .route("/v1/memory/search", post(search))
        .route("/v1/memory/flush", post(flush))
        .route("/v1/memory/{id}", get(one).patch(patch).delete(forget))
        .route("/v1/sessions/{id}/end", post(end_session))
        .route_layer(middleware::from_fn_with_state(key, auth::check));
    Router::new()
        .merge(v1)
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(door)
}

async fn no_route() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "unknown_route", "there is no such route")
}

async fn no_method() -> ApiError {
    let message = "this route does not take this method";
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

async fn end_session(
    Open(operations): Open,
    Id(id): Id,
    Json(whose): Json<Whose>,
) -> Answered<EndedView> {
    operations.end_session(&id, &whose).await.map(Answer)
}
