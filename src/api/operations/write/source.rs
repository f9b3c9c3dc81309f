//! Checks what a caller says of where a memory comes from. A line of a context is marked by it, so a user who could choose it
//! could put words into the assistant's mouth, or pass text from elsewhere for their own.

use axum::http::StatusCode;

use crate::api::{ApiError, Caller};
use memgate_core::memory::{Memory, Source};

/// Whether a caller may say where a memory comes from: operators may, who also carry memories from one memgate to another.
pub(in crate::api::operations) fn may_say(caller: &Caller) -> bool {
    caller.bound().user().is_none()
}

/// The source of a new memory: the one that was asked for, else the usual one of the API.
///
/// # Errors
/// 403 when the caller may not say so.
pub(in crate::api::operations) fn checked(
    caller: &Caller,
    asked: Option<Source>,
) -> Result<Source, ApiError> {
    let source = asked.unwrap_or(Source::ExternalData);
    if source == Source::ExternalData || may_say(caller) {
        return Ok(source);
    }
    let message = "source: only a key that is not bound to one user may say something else than external_data";
    let refused = ApiError::new(StatusCode::FORBIDDEN, "not_permitted", message);
    Err(ApiError { param: Some("source".to_owned()), ..refused })
}

/// Marks a memory as brought in from outside.
pub(in crate::api::operations) fn mark_imported(memory: &mut Memory) {
    memory.source = Source::ExternalData;
}

/// Whether a memory is stored already as it was before it was marked.
pub(in crate::api::operations) fn differs_only_by_mark(marked: &Memory, stored: &Memory) -> bool {
    Memory { source: stored.source, ..marked.clone() } == *stored
}
