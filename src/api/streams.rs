//! Streamed bodies, which are never held in memory as a whole.

use std::{io, pin::Pin};

use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt, stream};
use tokio_util::io::StreamReader;

use crate::api::{ApiError, Export, Operations};

/// Content type of an export.
const JSON_LINES: &str = "application/x-ndjson";

/// A stream of JSON lines from a request.
pub(super) struct JsonLines(
    pub StreamReader<Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>, Bytes>,
);

impl<S: Send + Sync> FromRequest<S> for JsonLines {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let content_type = request.headers().get(header::CONTENT_TYPE);
        if !content_type.and_then(|value| value.to_str().ok()).is_some_and(is_lines) {
            // As with other bodies: web pages cannot send this type to another origin without
            // permission.
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                format!("the body must have content-type {JSON_LINES}"),
            ));
        }
        let body = request.into_body().into_data_stream().map_err(io::Error::other);
        Ok(Self(StreamReader::new(Box::pin(body))))
    }
}

fn is_lines(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    [JSON_LINES, "application/jsonl"].iter().any(|known| media_type.eq_ignore_ascii_case(known))
}

/// Streams an export; with `once`, only its first piece. A failure before the first line is an
/// error response; a later one ends the body early, without its last line.
pub(super) async fn export(
    operations: Operations,
    export: Export,
    once: bool,
) -> Result<Response, ApiError> {
    let mut first = export.header(operations.clock.now())?;
    let piece = operations.export(export).await?;
    first.extend(piece.lines);
    let rest = piece.rest.filter(|_| !once);
    let pieces = stream::try_unfold((operations, rest), async |(operations, rest)| {
        let Some(export) = rest else { return Ok::<_, ApiError>(None) };
        let piece = operations.export(export).await.inspect_err(|error| {
            tracing::warn!(%error, "an export was interrupted");
        })?;
        Ok(Some((piece.lines, (operations, piece.rest))))
    });
    let first = stream::once(async { Ok(first) });
    let body = Body::from_stream(stream::StreamExt::chain(first, pieces));
    Ok(([(header::CONTENT_TYPE, JSON_LINES)], body).into_response())
}
