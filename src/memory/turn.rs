//! How a turn reads as a memory: what the user said and what the reply said, one line each.

use super::{Memory, Source};

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

    /// The user's own words that this memory is: their side of a turn, or a statement taken from
    /// one. `None` for what somebody else put into words.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        if let Some((user, _)) = self.as_turn() {
            return Some(user);
        }
        let taken = self.provenance.turn.is_some() && self.source == Source::ExplicitUserInput;
        taken.then(|| self.raw.as_deref().unwrap_or(&self.content))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::memory::{MemoryId, MemoryType, Owner};

    #[test]
    fn the_users_words_are_told_from_what_others_put_into_words() {
        let memory = |content: String, source, turn: bool| {
            let owner = Owner::of_user("u").unwrap();
            let (id, kind) = (MemoryId::fresh(), MemoryType::new(MemoryType::SEMANTIC));
            let mut memory = Memory::new(id, owner, kind, content, source, Timestamp::UNIX_EPOCH);
            memory.provenance.turn = turn.then(|| "t".to_owned());
            memory
        };
        let words = "I fly on Friday".to_owned();
        let turn = memory(turn_content(&words, Some("Ok")), Source::ExplicitUserInput, true);
        assert_eq!(turn.said(), Some(&*words));
        let mut statement = memory(words.clone(), Source::ExplicitUserInput, true);
        assert_eq!(statement.said(), Some(&*words));
        statement.content.push_str(" (2026-03-13)");
        statement.raw = Some(words.clone());
        assert_eq!(statement.said(), Some(&*words));
        assert_eq!(memory(words.clone(), Source::ImplicitInference, true).said(), None);
        assert_eq!(memory(words, Source::ExplicitUserInput, false).said(), None);
    }
}
