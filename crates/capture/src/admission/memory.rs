//! Admission of memories: the one step that a text passes on its way into a memory, whether an extractor
//! found it or a caller of the API wrote it.

use crate::admission::{
    name::{SecretName, secret_name},
    text::{Refusal, refusal_of_content, refusal_of_statement},
};
use memgate_core::memory::{Memory, MemoryKind};
use memgate_screening::{MAX_MESSAGE_BYTES, Screened, Screener};
use memgate_text::preferences;

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
    /// An id or a type in this field holds a secret.
    Name(&'static str),
}

impl NotAdmitted {
    /// The field of the memory that is refused.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Self::Empty | Self::Content(_) => "content",
            Self::Raw(_) => "raw",
            Self::Name(field) => field,
        }
    }

    /// The second half of an error message about that field.
    #[must_use]
    pub fn cause(self) -> &'static str {
        match self {
            Self::Empty => "must not be empty",
            Self::Content(refusal) | Self::Raw(refusal) => refusal.cause(),
            Self::Name(_) => SecretName::CAUSE,
        }
    }
}

/// The text as it may be stored: without invisible characters, and cut to `max_bytes`.
///
/// # Errors
/// Why it may not be stored.
pub fn admit_text(
    screener: Screener,
    text: &str,
    max_bytes: usize,
    author: Author,
) -> Result<String, Refusal> {
    let screened = screener.screen(text, max_bytes);
    let refusal = match author {
        Author::Extractor if !screened.removed.is_empty() => Some(Refusal::Secret),
        Author::Extractor => refusal_of_statement(&screened),
        Author::Caller => refusal_of_content(&screened),
    };
    match refusal {
        Some(refusal) => Err(refusal),
        None => Ok(screened.text),
    }
}

/// The action for a caller's text that gives orders to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrdersToModel {
    /// It is refused.
    Refuse,
    /// It becomes a quotation.
    Quote,
}

impl OrdersToModel {
    /// Why a memory with a refused text is not admitted; where it may be one, it becomes a quotation.
    fn settle(self, memory: &mut Memory, refusal: Option<Refusal>) -> Option<Refusal> {
        let quotes = self == Self::Quote || memory.kind == MemoryKind::Quotation;
        if quotes && refusal == Some(Refusal::Injection) {
            memory.make_quotation();
            return None;
        }
        refusal
    }
}

/// Screens the content and the raw words of a memory that a caller of the API brings, and checks its ids and types. An
/// order to the model is admitted only as a quotation.
///
/// # Errors
/// Why it may not be stored.
pub fn admit_memory(
    screener: Screener,
    memory: &mut Memory,
    max_bytes: usize,
    orders: OrdersToModel,
) -> Result<(), NotAdmitted> {
    if let Some(field) = secret_name(memory) {
        return Err(NotAdmitted::Name(field));
    }
    let screen = |text: &str| screener.screen(text, max_bytes);
    let content = screen(&memory.content);
    let [reply, raw] = [&memory.reply, &memory.raw].map(|it| it.as_deref().map(screen));
    let text = |screened: &Option<Screened>| screened.as_ref().map(|it| it.text.clone());
    memory.content.clone_from(&content.text);
    memory.reply = text(&reply).filter(|reply| !reply.trim().is_empty());
    memory.raw = text(&raw);
    if memory.content.trim().is_empty() {
        return Err(NotAdmitted::Empty);
    }
    let sides = [Some(&content), reply.as_ref()].into_iter().flatten();
    // Orders to the model are named last, since a quotation may hold them and nothing else that is refused.
    let refusal = sides.filter_map(refusal_of_content).min_by_key(|it| *it == Refusal::Injection);
    if let Some(refusal) = orders.settle(memory, refusal) {
        return Err(NotAdmitted::Content(refusal));
    }
    let refusal = raw.as_ref().and_then(refusal_of_content);
    match orders.settle(memory, refusal) {
        Some(refusal) => Err(NotAdmitted::Raw(refusal)),
        None => Ok(()),
    }
}

/// Whether the words of a user may become a memory, if the user asks for it.
#[must_use]
pub fn may_become_memory(screener: Screener, words: &str) -> bool {
    admit_text(screener, words, MAX_MESSAGE_BYTES, Author::Extractor).is_ok()
}

/// Compiles the patterns of admission, so that no request waits for it.
pub fn prepare() {
    let _ = may_become_memory(Screener::default(), "");
    preferences::prepare();
}
