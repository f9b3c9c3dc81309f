//! Extractors for JSON bodies and queries that report every error in the same shape.

use axum::{
    body::HttpBody,
    extract::{FromRequest, FromRequestParts, Query, Request, rejection::BytesRejection},
    http::{Extensions, StatusCode, Uri, header, request::Parts},
};
use bytes::Bytes;
use memgate_located::{Key, Node, Value, read};
use serde::de::DeserializeOwned;

use crate::api::{ApiError, Caller};

/// Maximum size of a body, in bytes: the largest memory, escaped, with some room.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// A JSON body.
pub(crate) struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        Ok(Self(read(&parse(request, state).await?)?))
    }
}

async fn parse<S: Send + Sync>(request: Request, state: &S) -> Result<Node, ApiError> {
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
    serde_json::from_slice(&body).map_err(|error| {
        let message = format!("the body is not JSON: {error}");
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", message)
    })
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
        let mut node = Node::of_spelt(query(&parts.uri)?);
        add_defaults(&mut node, &parts.extensions);
        Ok(Self(read(&node)?))
    }
}

fn query(uri: &Uri) -> Result<Vec<(String, String)>, ApiError> {
    let members = Query::try_from_uri(uri).map_err(|error| {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_value", format!("the query: {error}"))
    })?;
    Ok(members.0)
}

/// A JSON body about a user. Its members may be in the query instead; then the body may be absent.
pub(crate) struct Named<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let extensions = request.extensions().clone();
        let members = query(request.uri())?;
        let has_type = request.headers().contains_key(header::CONTENT_TYPE);
        let mut node = match (has_type, members.is_empty()) {
            // Without a type only an empty body is accepted.
            (false, false) if is_empty(&request) => Node::of_spelt([]),
            _ => parse(request, state).await?,
        };
        let members = Node::of_spelt(members).value;
        if let (Value::Map(all), Value::Map(of_query)) = (&mut node.value, members) {
            all.extend(of_query);
        }
        add_defaults(&mut node, &extensions);
        Ok(Self(read(&node)?))
    }
}

fn is_empty(request: &Request) -> bool {
    request.body().size_hint().exact() == Some(0)
}

/// Adds the members that this caller need not send.
fn add_defaults(node: &mut Node, extensions: &Extensions) {
    let (Some(caller), Value::Map(members)) = (extensions.get::<Caller>(), &mut node.value) else {
        return;
    };
    for (name, default) in caller.defaults() {
        // As everywhere, null means absent.
        members.retain(|(key, node)| key.name != name || !matches!(node.value, Value::Null));
        if !members.iter().any(|(key, _)| key.name == name) {
            let (key, value) = (name.to_owned(), Value::Text(default.to_owned()));
            members.push((Key { name: key, line: None }, Node { line: None, value }));
        }
    }
}
