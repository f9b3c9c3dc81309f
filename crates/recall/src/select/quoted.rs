//! Which statements stand in a message.

use memgate_text::sentences::sentences;

/// The part of a statement that stands in the message it was taken from. A statement that points back was put after a
/// sentence of an earlier message, so it is the last sentence.
pub(super) fn quoted(statement: &str) -> &str {
    sentences(statement).pop().unwrap_or(statement)
}
