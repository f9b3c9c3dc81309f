//! Pagination cursors: opaque texts whose content may change at any time.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;

use crate::api::ApiError;
use memgate_core::memory::{Cursor, MemoryId};

/// Encodes a cursor.
pub(super) fn encode(cursor: &Cursor) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {}", cursor.created_at.as_nanosecond(), cursor.id))
}

/// Decodes a cursor.
///
/// # Errors
/// 400 when it is not a valid cursor.
pub(super) fn decode(text: &str) -> Result<Cursor, ApiError> {
    parse(text).ok_or_else(refused)
}

/// Encodes a position in a numbered list.
pub(super) fn encode_number(number: i64) -> String {
    URL_SAFE_NO_PAD.encode(number.to_string())
}

/// Decodes a position in a numbered list.
///
/// # Errors
/// 400 when it is not a valid cursor.
pub(super) fn decode_number(text: &str) -> Result<i64, ApiError> {
    let inside = URL_SAFE_NO_PAD.decode(text).ok();
    let number = inside.and_then(|bytes| str::from_utf8(&bytes).ok()?.parse().ok());
    number.ok_or_else(refused)
}

/// Truncates a page to `limit` rows; returns the cursor if rows were cut off.
pub(super) fn next<T>(
    rows: &mut Vec<T>,
    limit: usize,
    number: impl Fn(&T) -> i64,
) -> Option<String> {
    let more = rows.len() > limit;
    rows.truncate(limit);
    rows.last().filter(|_| more).map(|last| encode_number(number(last)))
}

fn refused() -> ApiError {
    ApiError::invalid("cursor", "must be the next_cursor of a previous page, or absent")
}

fn parse(text: &str) -> Option<Cursor> {
    let inside = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (time, id) = inside.split_once(' ')?;
    let created_at = Timestamp::from_nanosecond(time.parse().ok()?).ok()?;
    Some(Cursor { created_at, id: MemoryId::from_outside(id) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_with_any_id() {
        let created_at: Timestamp = "2026-11-21T10:00:00.123456789Z".parse().unwrap();
        for id in ["mem_1", "a b c", "ünï/%20"] {
            let cursor = Cursor { created_at, id: MemoryId::from_outside(id) };
            assert_eq!(decode(&encode(&cursor)), Ok(cursor));
        }
    }

    #[test]
    fn refuses_invalid_cursors() {
        for text in ["", "x", "!!!", "MTIz", "bm90IGEgdGltZQ"] {
            assert_eq!(decode(text).unwrap_err().param.as_deref(), Some("cursor"), "{text}");
        }
        assert_eq!(decode_number(&encode_number(7)), Ok(7));
        assert!(decode_number("bm90").is_err() && decode_number("!").is_err());
    }
}
