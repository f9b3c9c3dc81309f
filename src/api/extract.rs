//! Reading a request's JSON and query, so that every mistake is told in the same shape.

use axum::{
    extract::{FromRequest, FromRequestParts, Query, Request, rejection::BytesRejection},
    http::{StatusCode, header, request::Parts},
};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::ApiError;

/// The largest body, in bytes: a memory at its longest, escaped, with room.
pub(super) const MAX_BODY: usize = 1 << 20;
/// The longest request id that is kept.
const MAX_REQUEST_ID: usize = 128;

/// A JSON body.
pub(super) struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        if !content_type.and_then(|value| value.to_str().ok()).is_some_and(is_json) {
            // Also what keeps web pages out: they cannot send this type to another origin unasked.
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "the body must have content-type application/json",
            ));
        }
        let body = Bytes::from_request(request, state).await.map_err(|error| unread(&error))?;
        serde_json::from_slice(&body).map(Self).map_err(|error| {
            if error.is_data() {
                return misfit(&error.to_string());
            }
            let message = format!("the body is not JSON: {error}");
            ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", message)
        })
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
pub(super) struct Asked<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => {
                // The cause alone; what stands before it tells of our library.
                let text = std::error::Error::source(&error)
                    .map_or_else(|| error.to_string(), ToString::to_string);
                Err(misfit(&text))
            }
        }
    }
}

/// What serde says of a missing, unknown or wrong member.
fn misfit(text: &str) -> ApiError {
    const ABOUT_MEMBERS: [&str; 3] = ["missing field", "unknown field", "duplicate field"];
    let starts = |text: &str| ABOUT_MEMBERS.iter().any(|start| text.starts_with(start));
    // A query's member may stand before the message.
    let text =
        text.split_once(": ").map_or(text, |(_, rest)| if starts(rest) { rest } else { text });
    let about_member = starts(text);
    let named = text.split('`').nth(1);
    let text = text.replace('`', "\"");
    let message = match text.strip_prefix("missing field ") {
        Some(rest) => format!("{} is required", rest.split(" at line").next().unwrap_or(rest)),
        None => text,
    };
    ApiError {
        param: named.filter(|_| about_member).map(str::to_owned),
        ..ApiError::new(StatusCode::BAD_REQUEST, "invalid_value", message)
    }
}

/// The caller's `x-request-id`, where it can be kept.
pub(super) struct RequestId(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let id = parts.headers.get("x-request-id").and_then(|value| value.to_str().ok());
        Ok(Self(id.filter(|id| (1..=MAX_REQUEST_ID).contains(&id.len())).map(str::to_owned)))
    }
}
