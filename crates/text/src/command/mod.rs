//! Commands of a message to memory itself: "remember that …", "forget that …".
//!
//! Only the patterns of `lang/` decide, and only on what the user says in their own words:
//! quotations, code, pasted texts and questions ask for nothing. When in doubt, nothing is asked.
//! A pure function, because recall and capture see a message on two streams. It must never know
//! what is remembered.

mod commands;
mod masked;
mod own_words;
mod patterns;
mod reader;
mod request;
mod subject;
mod typed;
mod untyped;

#[cfg(test)]
mod tests;

pub use commands::{Command, Commands};
pub use masked::is_in_the_middle;
pub use own_words::{LEFT_OUT, leave_out, own_words, without_envelope};
use patterns::List;
use reader::Reader;
pub use subject::Subject;
pub use typed::Typed;

/// Longer messages are pasted for the most part, in characters.
const MAX_CHARS: usize = 2_000;

fn is_long(message: &str) -> bool {
    message.len() > MAX_CHARS && message.chars().nth(MAX_CHARS).is_some()
}

/// Whether a text begins by asking whether something can be done: "could you …".
pub(crate) fn asks_to_do(text: &str) -> bool {
    let after_lead = List::Lead.find(text).map_or(text, |lead| &text[lead.end..]);
    [text, after_lead].into_iter().any(|text| List::Ask.find(text).is_some())
}

/// Makes ready what the first message would have to wait for.
pub fn prepare() {
    let _ = Commands::of("please remember: forget");
}

impl Commands {
    /// The commands of a message.
    #[must_use]
    pub fn of(message: &str) -> Self {
        if is_long(message) || !List::Stem.is_match(message) {
            return Self::default();
        }
        Reader::of(&without_envelope(message)).read()
    }
}
