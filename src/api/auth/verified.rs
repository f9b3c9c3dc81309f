//! The identity that Envoy verified, which it sends together with a gateway's key.

use axum::http::{HeaderValue, StatusCode, header::GetAll};
use serde_json::Value;

use crate::api::ApiError;
use memgate_config::JwtConfig;
use memgate_core::{
    identity::{Claims, Credentials, Mode, Verdict, identify},
    memory::Owner,
};

/// The header with the payload of the verified token as JSON. Envoy sets it on the routes to
/// memgate, and removes it from requests of clients.
pub(super) const HEADER: &str = "x-memgate-claims";

/// The user of a verified token, by the same rules as in exchanges.
///
/// # Errors
/// 401 when the header is missing, repeated or names no user.
pub(super) fn owner(values: GetAll<'_, HeaderValue>, names: &JwtConfig) -> Result<Owner, ApiError> {
    let mut values = values.iter();
    let (Some(value), None) = (values.next(), values.next()) else { return Err(refused()) };
    let payload: Value = serde_json::from_slice(value.as_bytes()).map_err(|_| refused())?;
    let claims = Claims::read(&payload, &names.claims());
    let credentials = Credentials { claims: Some(&claims), ..Credentials::default() };
    match identify(Mode::Production, &credentials) {
        Verdict::Known(identity) => Ok(identity.owner().clone()),
        Verdict::Unknown | Verdict::Refused | Verdict::Invalid { .. } => Err(refused()),
    }
}

pub(super) fn refused() -> ApiError {
    let message = "the gateway sent no verified identity of a user";
    ApiError::new(StatusCode::UNAUTHORIZED, "identity_required", message)
}

pub(super) fn not_a_gateway() -> ApiError {
    let message = format!("{HEADER} requires a key with the scope gateway");
    ApiError::new(StatusCode::FORBIDDEN, "insufficient_scope", message)
}
