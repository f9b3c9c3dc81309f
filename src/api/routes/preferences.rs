//! A user's preferences.

use axum::Json as Answer;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::api::{
    DeletedView, PreferenceView, PreferencesView,
    auth::{Reader, Writer},
    read::{
        extract::{Asked, Named},
        requests::{
            PreferenceScope, PreferencesRequest, SetPreferenceRequest, UnsetPreference,
            UnsetPreferenceRequest, Whose,
        },
    },
    routes::Answered,
    state::{ApiState, Open},
};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(preferences, set_preference, unset_preference))
}

/// The preferences in force.
#[utoipa::path(
    get,
    path = "/v1/preferences",
    tag = "preferences",
    params(Whose, PreferenceScope),
    responses((status = 200, description = "Done", body = PreferencesView)),
)]
async fn preferences(
    Open(operations): Open,
    Reader(caller): Reader,
    Asked(request): Asked<PreferencesRequest>,
) -> Answered<PreferencesView> {
    operations.preferences(&caller, &request).await.map(Answer)
}

/// Sets a preference.
#[utoipa::path(
    put,
    path = "/v1/preferences",
    tag = "preferences",
    request_body = SetPreferenceRequest,
    responses((status = 200, description = "Done", body = PreferenceView)),
)]
async fn set_preference(
    Open(operations): Open,
    Writer(caller): Writer,
    Named(request): Named<SetPreferenceRequest>,
) -> Answered<PreferenceView> {
    operations.set_preference(&caller, request).await.map(Answer)
}

/// Deletes preferences.
#[utoipa::path(
    delete,
    path = "/v1/preferences",
    tag = "preferences",
    params(Whose, UnsetPreference),
    responses((status = 200, description = "Done", body = DeletedView)),
)]
async fn unset_preference(
    Open(operations): Open,
    Writer(caller): Writer,
    Asked(request): Asked<UnsetPreferenceRequest>,
) -> Answered<DeletedView> {
    operations.unset_preference(&caller, &request).await.map(Answer)
}
