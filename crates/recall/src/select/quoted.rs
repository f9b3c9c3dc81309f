//! Which statements stand in a message.

use memgate_text::sentences::sentences;

/// Whether a statement was taken from this message. One that points back was put after a sentence of an earlier message;
/// then its last sentence tells.
pub(super) fn stands_in(statement: &str, message: &str) -> bool {
    let last = sentences(statement).pop().unwrap_or(statement);
    message.contains(statement) || message.contains(last)
}
