//! Reads and judges the body of a request. Recall and capture see the same request on two streams and read it alike.

use std::sync::Arc;

use crate::gateway::{
    parts::Parts,
    request::{
        admission::{Admission, admit},
        head::RequestHead,
    },
};
use memgate_config::Config;
use memgate_dialect::{DecodeError, Dialect, InvalidField, ReadError};
use memgate_telemetry::PanicIn;

/// Larger bodies are parsed off the async runtime, and so are compressed ones,
/// whatever they hold; others take less time to parse than to hand over.
pub(crate) const PARSED_INLINE: usize = 256 * 1024;

/// A request that was read and judged.
pub(crate) struct ReadRequest {
    /// The body, decoded.
    pub(crate) plain: Vec<u8>,
    /// Whether the body came compressed.
    pub(crate) decoded: bool,
    /// The body as read, and the places of an edit.
    pub(crate) request: memgate_dialect::Request,
    /// Who asks, and what applies.
    pub(crate) admission: Admission,
}

/// Why a request cannot be read.
pub(crate) enum Unread {
    /// A field of ours is wrong.
    Invalid(InvalidField),
    /// The decoded body is over the limit.
    TooLarge,
    /// The body is not what its path or its encoding promises.
    Unreadable(&'static str),
    /// A mistake of ours.
    Panicked,
}

/// Reads a body, judges the request and does `then`; off the async runtime where that takes long. A panic is counted for
/// `part`.
///
/// # Errors
/// [`Unread`].
pub(crate) async fn read<T: Send + 'static>(
    parts: &Parts,
    part: PanicIn,
    config: &Arc<Config>,
    dialect: Dialect,
    head: &RequestHead,
    body: Vec<u8>,
    then: fn(ReadRequest) -> T,
) -> Result<T, Unread> {
    let done = if body.len() <= PARSED_INLINE && head.headers().content_encoding().is_none() {
        parts.metrics.catch(part, || read_here(config, dialect, head, body).map(then))
    } else {
        let (metrics, config, head) = (parts.metrics.clone(), config.clone(), head.clone());
        let work =
            move || metrics.catch(part, || read_here(&config, dialect, &head, body).map(then));
        tokio::task::spawn_blocking(work).await.ok().flatten()
    };
    done.unwrap_or(Err(Unread::Panicked))
}

fn read_here(
    config: &Config,
    dialect: Dialect,
    head: &RequestHead,
    body: Vec<u8>,
) -> Result<ReadRequest, Unread> {
    let (plain, decoded) = match head.headers().content_encoding() {
        None => (body, false),
        Some(encoding) => {
            match memgate_dialect::decode_body(encoding, &body, config.memory.max_body_bytes) {
                Ok(plain) => (plain, true),
                Err(DecodeError::TooLarge { .. }) => return Err(Unread::TooLarge),
                Err(_) => return Err(Unread::Unreadable("the body's encoding cannot be read")),
            }
        }
    };
    match memgate_dialect::read(dialect, &plain) {
        Ok(request) => {
            let admission = admit(config, head, request.ask());
            Ok(ReadRequest { plain, decoded, request, admission })
        }
        Err(ReadError::Invalid(field)) => Err(Unread::Invalid(field)),
        Err(ReadError::Unreadable(reason)) => Err(Unread::Unreadable(reason)),
    }
}
