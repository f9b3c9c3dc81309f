//! The requests of a message to memory.

use crate::command::subject::Subject;

/// The requests of a message to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// To be remembered, in the user's words.
    pub remember: Vec<String>,
    /// Whether the assistant's last answer is to be remembered: "Great, save that".
    pub answer: bool,
    /// To be forgotten.
    pub forget: Vec<Subject>,
    /// Whether the message takes back what it tells: "I have a 5 in physics. Forget that."
    pub withdrawn: bool,
    /// Whether there are requests that the user did not type for certain. Nobody does them.
    pub others: bool,
    /// The message without all these requests, where there are any.
    pub rest: String,
}

impl Commands {
    /// Which kinds there are.
    #[must_use]
    pub fn kind(&self) -> Option<Command> {
        match (self.remember.is_empty() && !self.answer, self.forget.is_empty()) {
            (true, true) => None,
            (false, true) => Some(Command::Remember),
            (true, false) => Some(Command::Forget),
            (false, false) => Some(Command::Both),
        }
    }
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
