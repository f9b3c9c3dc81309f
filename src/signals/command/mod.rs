//! What a message asks of memory itself: "remember that …", "forget that …".
//!
//! Only the patterns of patterns.txt decide, and only on what the user says in their own words:
//! quotations, code, pasted texts and questions ask for nothing. When in doubt, nothing is asked.
//! A pure function, because recall and capture see a message on two streams. It must never know
//! what is remembered.

mod masked;
mod patterns;
mod reader;
mod request;
mod subject;
mod typed;
mod untyped;

#[cfg(test)]
mod tests;

use patterns::List;
use reader::Reader;
pub use subject::Subject;
pub use typed::Typed;

/// Longer messages are pasted for the most part, in characters.
const MAX_CHARS: usize = 2_000;

fn is_long(message: &str) -> bool {
    message.len() > MAX_CHARS && message.chars().nth(MAX_CHARS).is_some()
}

/// What a message asks of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// To be remembered, in the user's words.
    pub remember: Vec<String>,
    /// To be forgotten.
    pub forget: Vec<Subject>,
    /// Whether there are requests that the user did not type for certain. Nobody does them.
    pub others: bool,
    /// The message without all these requests, where there are any.
    pub rest: String,
}

/// The kinds of requests in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Something is to be remembered.
    Remember,
    /// Something is to be forgotten.
    Forget,
    /// Both.
    Both,
}

impl Command {
    /// The name in metadata and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Forget => "forget",
            Self::Both => "remember+forget",
        }
    }
}

/// Makes ready what the first message would have to wait for.
pub fn prepare() {
    let _ = Commands::of("please remember: forget");
}

impl Commands {
    /// What a message asks of memory.
    #[must_use]
    pub fn of(message: &str) -> Self {
        if is_long(message) || !List::Stem.is_match(message) {
            return Self::default();
        }
        Reader::of(message).read()
    }

    /// Which kinds there are.
    #[must_use]
    pub fn kind(&self) -> Option<Command> {
        match (self.remember.is_empty(), self.forget.is_empty()) {
            (true, true) => None,
            (false, true) => Some(Command::Remember),
            (true, false) => Some(Command::Forget),
            (false, false) => Some(Command::Both),
        }
    }
}
