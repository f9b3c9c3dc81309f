//! The memories of a turn and of a session's summary: their ids and contents. The content of a turn
//! holds what the user said and what the reply said, one line each.

use crate::memory::{Memory, MemoryId, MemoryKind, Owner, Source, extractor};

const USER: &str = "User: ";
const ASSISTANT: &str = "\nAssistant: ";
const SUMMARY: &str = "Session summary: ";

/// The content of a turn's memory. Neither text may have line breaks.
#[must_use]
pub fn turn_content(user: &str, reply: Option<&str>) -> String {
    match reply {
        Some(reply) => format!("{USER}{user}{ASSISTANT}{reply}"),
        None => format!("{USER}{user}"),
    }
}

/// The content of a summary in these words.
#[must_use]
pub fn summary_content(words: &str) -> String {
    format!("{SUMMARY}{words}")
}

impl MemoryId {
    /// The id of the memory of the turn with this key: the same however often it is made.
    #[must_use]
    pub fn of_turn(owner: &Owner, key: &str) -> Self {
        Self::derived(&[extractor::TURNS, &owner.key(), key])
    }

    /// The id of the summary of a session in one scope: one summary a session, project and agent.
    #[must_use]
    pub fn of_summary(
        owner: &Owner,
        session: &str,
        project: Option<&str>,
        agent: Option<&str>,
    ) -> Self {
        let [project, agent] = [project, agent].map(Option::unwrap_or_default);
        Self::derived(&[extractor::SUMMARY, &owner.key(), session, project, agent])
    }
}

impl Memory {
    /// The two sides of the turn that this memory holds word for word; `None` for any other.
    #[must_use]
    pub fn as_turn(&self) -> Option<(&str, Option<&str>)> {
        self.provenance.turn.as_ref()?;
        let said = self.content.strip_prefix(USER)?;
        Some(match said.split_once(ASSISTANT) {
            Some((user, reply)) => (user, Some(reply)),
            None => (said, None),
        })
    }

    /// Whether it is a turn in which nothing was found that is worth keeping.
    #[must_use]
    pub fn is_idle_turn(&self) -> bool {
        self.importance <= Self::IDLE_IMPORTANCE && self.as_turn().is_some()
    }

    /// The words of a summary; `None` for any other memory.
    #[must_use]
    pub fn as_summary(&self) -> Option<&str> {
        let words = self.content.strip_prefix(SUMMARY)?;
        (self.kind() == MemoryKind::Summary).then_some(words)
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

    /// The texts that are embedded: the two sides of a turn, or the whole content of any other
    /// memory.
    #[must_use]
    pub fn passages(&self) -> Vec<String> {
        let made_as_turn = self.kind() == MemoryKind::Turn;
        match self.as_turn().filter(|_| made_as_turn) {
            Some((user, reply)) => {
                [Some(user), reply].into_iter().flatten().map(str::to_owned).collect()
            }
            None => vec![self.content.clone()],
        }
    }
}

#[cfg(test)]
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
