//! Extractors for JSON bodies and queries that report every error in the same shape.

use axum::{
    extract::{FromRequest, FromRequestParts, Query, Request, rejection::BytesRejection},
    http::{StatusCode, header, request::Parts},
};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::api::{
    ApiError,
    read::{deserializer::read, value::RequestValue},
};

/// Maximum size of a body, in bytes: the largest memory, escaped, with some room.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// Maximum length of a stored request id.
const MAX_REQUEST_ID: usize = 128;

/// A JSON body.
pub(crate) struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        if !content_type.and_then(|value| value.to_str().ok()).is_some_and(is_json) {
            // This also protects against web pages, which cannot send this type to another origin
            // without permission.
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "the body must have content-type application/json",
            ));
        }
        let body = Bytes::from_request(request, state).await.map_err(|error| unread(&error))?;
        let value: RequestValue = serde_json::from_slice(&body).map_err(|error| {
            let message = format!("the body is not JSON: {error}");
            ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", message)
        })?;
        Ok(Self(read(&value)?))
    }
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}

fn unread(error: &BytesRejection) -> ApiError {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body must have at most {MAX_BODY} bytes"),
        ),
        status => ApiError::new(status, "unreadable", "the body could not be read"),
    }
}

/// The query.
pub(crate) struct Asked<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Query(members) = Query::try_from_uri(&parts.uri).map_err(|error| {
            ApiError::new(StatusCode::BAD_REQUEST, "invalid_value", format!("the query: {error}"))
        })?;
        Ok(Self(read(&RequestValue::of_query(members))?))
    }
}

/// The caller's `x-request-id`, if it can be stored.
pub(crate) struct RequestId(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let id = parts.headers.get("x-request-id").and_then(|value| value.to_str().ok());
        Ok(Self(id.filter(|id| (1..=MAX_REQUEST_ID).contains(&id.len())).map(str::to_owned)))
    }
}
