//! Reads the members of a request, with errors that all have one shape.

use axum::{
    body::HttpBody,
    extract::{FromRequest, Query, Request, rejection::BytesRejection},
    http::{HeaderMap, Method, StatusCode, Uri, header},
};
use bytes::Bytes;
use memgate_located::{Key, Node, Value, read};
use serde::de::DeserializeOwned;

use crate::api::{ApiError, Caller, read::description::JSON};

/// Members whose text in a query is JSON.
const JSON_MEMBERS: [&str; 1] = ["filter"];

/// Members of a write that may be in the query: whose memory it is, and how long to wait. A page in a browser sends a
/// query to another origin without asking, a JSON body not.
const WITHOUT_BODY: [&str; 4] = ["user_id", "space", "tenant_id", "timeout_ms"];

/// Maximum size of a JSON body, in bytes: the largest memory, escaped, with some room.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// Reads a request whose members are in the query or in the JSON body alike.
///
/// # Errors
/// 400 for invalid members, 413 and 415 for a body of another size or type.
pub(super) async fn members<T: DeserializeOwned>(request: Request) -> Result<T, ApiError> {
    let of_query = spelt(query(request.uri())?)?;
    let caller = request.extensions().get::<Caller>().cloned();
    let mut node = if has_body(&request) { parse(request).await? } else { Node::of_spelt([]) };
    if let (Value::Map(all), Value::Map(more)) = (&mut node.value, of_query.value) {
        all.extend(more);
    }
    Ok(read(&with_defaults(node, caller.as_ref()))?)
}

/// Reads a request whose members are in the query.
///
/// # Errors
/// 400 for invalid members.
pub(super) fn query_members<T: DeserializeOwned>(request: &Request) -> Result<T, ApiError> {
    let node = spelt(query(request.uri())?)?;
    Ok(read(&with_defaults(node, request.extensions().get::<Caller>()))?)
}

/// Checks that the query of a request with a body has no members but those that may be there without a body.
///
/// # Errors
/// 400 names another one.
pub(super) fn only_whose_in_query(request: &Request) -> Result<(), ApiError> {
    let mut names = query(request.uri())?.into_iter().map(|(name, _)| name);
    match names.find(|name| !WITHOUT_BODY.contains(&&**name)) {
        None => Ok(()),
        Some(name) => Err(ApiError::invalid(&name, "must be in the JSON body, not in the query")),
    }
}

/// The members of a query as a tree.
fn spelt(members: Vec<(String, String)>) -> Result<Node, ApiError> {
    let mut node = Node::of_spelt(members);
    if let Value::Map(members) = &mut node.value {
        for (key, node) in members {
            if let (true, Value::Spelt(text)) = (JSON_MEMBERS.contains(&&*key.name), &node.value) {
                *node = serde_json::from_str(text).map_err(|error| {
                    ApiError::invalid(&key.name, format_args!("must be JSON: {error}"))
                })?;
                // A null must not mean "all memories" to a deletion.
                if !matches!(node.value, Value::Map(_)) {
                    return Err(ApiError::invalid(&key.name, "must be an object"));
                }
            }
        }
    }
    Ok(node)
}

/// Whether the members of the query are not the whole request.
fn has_body(request: &Request) -> bool {
    let is_empty = request.body().size_hint().exact() == Some(0);
    match *request.method() {
        Method::GET | Method::HEAD => false,
        Method::DELETE => !is_empty,
        // A change of nothing would be a mistake.
        Method::PATCH => true,
        // Without a type only an empty body is accepted.
        _ => !is_empty || request.headers().contains_key(header::CONTENT_TYPE),
    }
}

async fn parse(request: Request) -> Result<Node, ApiError> {
    check_type(&request, &[JSON])?;
    let body = Bytes::from_request(request, &()).await.map_err(|error| unread(&error))?;
    serde_json::from_slice(&body).map_err(|error| {
        let message = format!("the body is not JSON: {error}");
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_json", message)
    })
}

/// Checks that the body has one of these types. Web pages cannot send them to another origin without permission; without a
/// key `Host` and `Origin` are checked besides, also where there is no body.
///
/// # Errors
/// 415, which names the first of them.
pub(super) fn check_type(request: &Request, known: &[&str]) -> Result<(), ApiError> {
    let media_type = media_type(request.headers());
    if known.iter().any(|known| media_type.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let known = known.first().unwrap_or(&JSON);
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        format!("the body must have content-type {known}"),
    ))
}

fn media_type(headers: &HeaderMap) -> &str {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim()
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

fn query(uri: &Uri) -> Result<Vec<(String, String)>, ApiError> {
    let members = Query::try_from_uri(uri).map_err(|error| {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_value", format!("the query: {error}"))
    })?;
    Ok(members.0)
}

/// Adds the members that this caller need not send.
fn with_defaults(mut node: Node, caller: Option<&Caller>) -> Node {
    let (Some(caller), Value::Map(members)) = (caller, &mut node.value) else { return node };
    for (name, default) in caller.defaults() {
        // As everywhere, null means absent.
        members.retain(|(key, node)| key.name != name || !matches!(node.value, Value::Null));
        if !members.iter().any(|(key, _)| key.name == name) {
            let (key, value) = (name.to_owned(), Value::Text(default.to_owned()));
            members.push((Key { name: key, line: None }, Node { line: None, value }));
        }
    }
    node
}
