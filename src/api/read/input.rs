//! Where the members of an operation's request are in HTTP: read by the server, written by the command line's client,
//! described by OpenAPI.

use std::{
    io::{self, Cursor},
    marker::PhantomData,
    pin::Pin,
};

use axum::{
    RequestExt,
    extract::{Path, Request},
};
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncReadExt};
use tokio_util::io::StreamReader;
use utoipa::{IntoParams, ToSchema, openapi::path::ParameterIn};

use crate::api::{
    ApiError,
    read::{
        description::{Description, JSON, JSON_LINES},
        extract,
        requests::NoMembers,
    },
};

/// The form of an operation's request in HTTP.
pub trait Input {
    /// The input of the operation.
    type Request: Send;

    /// Checks the query of a write: its members are in the body, which a web page from elsewhere cannot send unasked.
    ///
    /// # Errors
    /// 400 names a member that must not be in the query.
    fn check_query_of_write(_: &Request) -> Result<(), ApiError> {
        Ok(())
    }

    /// Reads the request.
    fn read(from: Request) -> impl Future<Output = Result<Self::Request, ApiError>> + Send;

    /// Writes the request, for a client.
    fn write(request: Self::Request) -> impl Future<Output = Result<Sent, ApiError>> + Send;

    /// Describes the request.
    fn describe(description: &mut Description);
}

/// A request as a client sends it.
#[derive(Default)]
pub struct Sent {
    /// The id in the path.
    pub id: String,
    /// Headers.
    pub headers: Vec<(&'static str, String)>,
    /// The query's members.
    pub query: Vec<(String, String)>,
    /// The body and its type.
    pub body: Option<(&'static str, Vec<u8>)>,
}

/// The members are in the query. A DELETE may also have them in a JSON body.
pub struct Query<T>(PhantomData<T>);

impl<T: Serialize + DeserializeOwned + IntoParams + Send> Input for Query<T> {
    type Request = T;

    async fn read(from: Request) -> Result<T, ApiError> {
        extract::members(from).await
    }

    async fn write(request: T) -> Result<Sent, ApiError> {
        let query = match serde_json::to_value(&request).map_err(unwritable)? {
            Value::Object(members) => members.into_iter().map(spelt).collect(),
            _ => Vec::new(),
        };
        Ok(Sent { query, ..Sent::default() })
    }

    fn describe(description: &mut Description) {
        description.parameters.extend(T::into_params(|| Some(ParameterIn::Query)));
    }
}

/// The members are in a JSON body, in the query, or in both; of a write only those that say whose memory it is may be in
/// the query. OpenAPI describes those of `Q` in the query and those of `B` in the body.
pub struct Body<T, Q = NoMembers, B = T>(PhantomData<(T, Q, B)>);

impl<T: Serialize + DeserializeOwned + Send, Q: IntoParams, B: ToSchema> Input for Body<T, Q, B> {
    type Request = T;

    fn check_query_of_write(from: &Request) -> Result<(), ApiError> {
        extract::only_whose_in_query(from)
    }

    async fn read(from: Request) -> Result<T, ApiError> {
        extract::members(from).await
    }

    async fn write(request: T) -> Result<Sent, ApiError> {
        let body = serde_json::to_vec(&request).map_err(unwritable)?;
        Ok(Sent { body: Some((JSON, body)), ..Sent::default() })
    }

    fn describe(description: &mut Description) {
        description.parameters.extend(Q::into_params(|| Some(ParameterIn::Query)));
        description.json_body::<B>();
    }
}

/// The path has an id, beside the members of `I`.
pub struct OfId<I>(PhantomData<I>);

/// A request about the thing with an id.
pub struct WithId<T> {
    /// The id.
    pub id: String,
    /// The rest of the request.
    pub request: T,
}

impl<I: Input> Input for OfId<I> {
    type Request = WithId<I::Request>;

    fn check_query_of_write(from: &Request) -> Result<(), ApiError> {
        I::check_query_of_write(from)
    }

    async fn read(mut from: Request) -> Result<Self::Request, ApiError> {
        let path = from.extract_parts::<Path<String>>().await;
        let Path(id) = path.map_err(|_| ApiError::invalid("id", "must be UTF-8"))?;
        Ok(WithId { id, request: I::read(from).await? })
    }

    async fn write(WithId { id, request }: Self::Request) -> Result<Sent, ApiError> {
        Ok(Sent { id, ..I::write(request).await? })
    }

    fn describe(description: &mut Description) {
        description.id();
        I::describe(description);
    }
}

/// The body is JSON lines; the members are in the query.
pub struct Lines<T>(PhantomData<T>);

/// A request with JSON lines.
pub struct WithLines<T> {
    /// The rest of the request.
    pub request: T,
    /// The lines.
    pub lines: LineReader,
}

/// Reads JSON lines, which are never held in memory as a whole.
pub type LineReader = Box<dyn AsyncBufRead + Send + Unpin>;

impl<T> WithLines<T> {
    /// A request with lines that are in memory.
    #[must_use]
    pub fn held(request: T, lines: Vec<u8>) -> Self {
        Self { request, lines: Box::new(Cursor::new(lines)) }
    }
}

impl<T: Serialize + DeserializeOwned + IntoParams + Send> Input for Lines<T> {
    type Request = WithLines<T>;

    async fn read(from: Request) -> Result<Self::Request, ApiError> {
        let request = extract::query_members(&from)?;
        extract::check_type(&from, &[JSON_LINES, "application/jsonl"])?;
        let body = from.into_body().into_data_stream().map_err(io::Error::other);
        let body: Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>> = Box::pin(body);
        Ok(WithLines { request, lines: Box::new(StreamReader::new(body)) })
    }

    async fn write(WithLines { request, mut lines }: Self::Request) -> Result<Sent, ApiError> {
        let mut body = Vec::new();
        lines.read_to_end(&mut body).await.map_err(unwritable)?;
        Ok(Sent { body: Some((JSON_LINES, body)), ..Query::write(request).await? })
    }

    fn describe(description: &mut Description) {
        Query::<T>::describe(description);
        description.lines_body();
    }
}

/// A member of a query.
fn spelt((name, value): (String, Value)) -> (String, String) {
    let value = match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    (name, value)
}

fn unwritable(error: impl std::fmt::Display) -> ApiError {
    ApiError::invalid("body", format_args!("cannot be written: {error}"))
}
