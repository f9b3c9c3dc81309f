//! How a turn reads as a memory: what the user said and what the reply said, one line each.

use super::Memory;

const USER: &str = "User: ";
const ASSISTANT: &str = "\nAssistant: ";

/// The content of a turn's memory. Neither text may have line breaks.
#[must_use]
pub fn turn_content(user: &str, reply: Option<&str>) -> String {
    match reply {
        Some(reply) => format!("{USER}{user}{ASSISTANT}{reply}"),
        None => format!("{USER}{user}"),
    }
}

impl Memory {
    /// The two sides of the turn that this memory tells word for word; `None` for any other.
    #[must_use]
    pub fn as_turn(&self) -> Option<(&str, Option<&str>)> {
        self.provenance.turn.as_ref()?;
        let said = self.content.strip_prefix(USER)?;
        Some(match said.split_once(ASSISTANT) {
            Some((user, reply)) => (user, Some(reply)),
            None => (said, None),
        })
    }
}
