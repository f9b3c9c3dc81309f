//! Answers of operations: sent by the server, read by the command line's client, described by OpenAPI.

use std::pin::Pin;

use axum::{
    Json,
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::Stream;
use serde::{Serialize, de::DeserializeOwned};
use utoipa::{
    ToSchema,
    openapi::{self, Object, Type, header::HeaderBuilder, schema::SchemaType},
};

use crate::api::{
    ApiError,
    read::{
        description::{Description, JSON_LINES},
        headers::IfMatch,
    },
};

/// The form of an operation's answer in HTTP.
pub trait Output: Send {
    /// The content of the body, for a client.
    type View;

    /// Sends the answer.
    fn respond(self, status: StatusCode) -> Response;

    /// Reads a body.
    ///
    /// # Errors
    /// When it is not a body of this answer.
    fn view(body: &[u8]) -> serde_json::Result<Self::View>;

    /// Describes the answer.
    fn describe(description: &mut Description, status: StatusCode) -> openapi::Response;
}

impl<T: Serialize + DeserializeOwned + ToSchema + Send> Output for T {
    type View = T;

    fn respond(self, status: StatusCode) -> Response {
        (status, Json(self)).into_response()
    }

    fn view(body: &[u8]) -> serde_json::Result<T> {
        serde_json::from_slice(body)
    }

    fn describe(description: &mut Description, status: StatusCode) -> openapi::Response {
        description.json::<T>(if status == StatusCode::CREATED { "Created" } else { "Done" })
    }
}

/// An answer whose value has a version: its `ETag`, which `If-Match` takes.
pub struct Tagged<T> {
    /// The version.
    pub version: u32,
    /// The value.
    pub value: T,
}

impl<T: Output> Output for Tagged<T> {
    type View = T::View;

    fn respond(self, status: StatusCode) -> Response {
        let mut response = self.value.respond(status);
        if let Ok(tag) = IfMatch(self.version).to_string().try_into() {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }

    fn view(body: &[u8]) -> serde_json::Result<Self::View> {
        T::view(body)
    }

    fn describe(description: &mut Description, status: StatusCode) -> openapi::Response {
        let mut response = T::describe(description, status);
        let tag = HeaderBuilder::new()
            .description(Some("The version of the memory, for `If-Match`"))
            .schema(Some(Object::with_type(SchemaType::new(Type::String))));
        response.headers.insert("ETag".to_owned(), tag.build().into());
        response
    }
}

/// JSON lines, which are never held in memory as a whole. A failure ends them early, without their last line.
pub struct LineStream(pub Pin<Box<dyn Stream<Item = Result<Vec<u8>, ApiError>> + Send>>);

impl Output for LineStream {
    /// A client takes the body as it is.
    type View = ();

    fn respond(self, status: StatusCode) -> Response {
        let body = Body::from_stream(self.0);
        (status, [(header::CONTENT_TYPE, JSON_LINES)], body).into_response()
    }

    fn view(_: &[u8]) -> serde_json::Result<()> {
        Ok(())
    }

    fn describe(_: &mut Description, _: StatusCode) -> openapi::Response {
        Description::lines()
    }
}
