//! Admission of memories: the one step that a text passes on its way into a memory, whether an extractor
//! found it or a caller of the API wrote it.

use serde_json::Value;

use crate::admission::text::{Refusal, refusal_of_content, refusal_of_statement};
use memgate_core::{
    memory::Memory,
    screening::{MAX_MESSAGE_BYTES, screen},
};
use memgate_text::preferences::is_standing;

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The user or an extractor. A secret in it refuses the text.
    Extractor,
    /// A caller of the API. A secret in it is redacted.
    Caller,
}

/// Why a memory is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdmitted {
    /// Its content is empty.
    Empty,
    /// Its content is refused.
    Content(Refusal),
    /// Its raw words are refused.
    Raw(Refusal),
}

/// The text as it may be stored: without invisible characters, and cut to `max_bytes`.
///
/// # Errors
/// Why it may not be stored.
pub fn admit_text(text: &str, max_bytes: usize, author: Author) -> Result<String, Refusal> {
    let screened = screen(text, max_bytes);
    let refusal = match author {
        Author::Extractor if !screened.removed.is_empty() => Some(Refusal::Secret),
        Author::Extractor => refusal_of_statement(&screened.text),
        Author::Caller => refusal_of_content(&screened.text),
    };
    match refusal {
        Some(refusal) => Err(refusal),
        None => Ok(screened.text),
    }
}

/// Screens the content and the raw words of a memory that a caller of the API brings.
///
/// # Errors
/// Why it may not be stored.
pub fn admit_memory(memory: &mut Memory, max_bytes: usize) -> Result<(), NotAdmitted> {
    for text in [Some(&mut memory.content), memory.raw.as_mut()].into_iter().flatten() {
        *text = screen(text, max_bytes).text;
    }
    if memory.content.trim().is_empty() {
        return Err(NotAdmitted::Empty);
    }
    // The two sides of a turn are checked one by one: its labels look like a transcript's.
    let sides = memory.as_turn().map(|(user, reply)| [Some(user), reply]);
    let said = sides.unwrap_or([Some(memory.content.as_str()), None]);
    if let Some(refusal) = said.into_iter().flatten().find_map(refusal_of_content) {
        return Err(NotAdmitted::Content(refusal));
    }
    match memory.raw.as_deref().and_then(refusal_of_content) {
        Some(refusal) => Err(NotAdmitted::Raw(refusal)),
        None => Ok(()),
    }
}

/// Whether the words of a user may become a memory, if the user asks for it.
#[must_use]
pub fn may_become_memory(words: &str) -> bool {
    admit_text(words, MAX_MESSAGE_BYTES, Author::Extractor).is_ok()
}

/// Tags a memory as a preference if its content or its raw words state one, and `counts` accepts
/// these words.
pub fn tag_preference(memory: &mut Memory, counts: impl Fn(&str) -> bool) {
    let texts = [Some(&memory.content), memory.raw.as_ref()];
    if texts.into_iter().flatten().any(|words| is_standing(words) && counts(words)) {
        memory.tags.push(Memory::STANDING.to_owned());
    }
}

/// Removes the tag of a preference from a memory whose content changes from words that state one to
/// words that do not. A tag that was set by hand stays.
pub fn keep_preference_tag(memory: &mut Memory, content: &str) {
    if is_standing(&memory.content) {
        memory.tags.retain(|tag| tag != Memory::STANDING || is_standing(content));
    }
}

/// A JSON value with all its texts screened, and cut to `max_bytes`.
#[must_use]
pub fn screened_value(value: Value, max_bytes: usize) -> Value {
    match value {
        Value::String(text) => Value::String(screen(&text, max_bytes).text),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| screened_value(item, max_bytes)).collect())
        }
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name, screened_value(value, max_bytes)))
                .collect(),
        ),
        other => other,
    }
}

/// Compiles the patterns of admission, so that no request waits for it.
pub fn prepare() {
    let _ = (may_become_memory(""), is_standing(""));
}
