//! Signals: what is known of an ask before any memory is looked at.
//!
//! Earlier filters come first; where they are silent our own rules speak, and
//! where those are silent too, nothing is claimed (recall then searches). This
//! module must never know a store, an embedder's model, or what is decided.

mod command;
mod earlier;
mod greeting;
mod personal;

pub use command::{Command, Commands, Subject, prepare};
pub use earlier::{Earlier, Name};
pub use greeting::is_greeting;
pub use personal::is_personal;

/// The signals of one ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// A question about the world.
    pub fact: bool,
    /// A tool will answer.
    pub tool: bool,
    /// Nothing but a greeting, thanks or an acknowledgement.
    pub greeting: bool,
    /// Refers to the speaker's own life, things, people or history.
    pub personal: bool,
}

impl Signals {
    /// Combines what earlier filters said with our own rules on the text.
    #[must_use]
    pub fn of(text: &str, earlier: &Earlier) -> Self {
        Self {
            fact: earlier.fact.unwrap_or(false),
            tool: earlier.tool.unwrap_or(false),
            greeting: earlier.greeting.unwrap_or_else(|| is_greeting(text)),
            personal: earlier.personal.unwrap_or_else(|| is_personal(text)),
        }
    }
}
