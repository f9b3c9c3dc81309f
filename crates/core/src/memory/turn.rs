//! Members of a memory by its kind: the sides of a turn, the words of a summary, the successor of a
//! superseded one.

use std::{borrow::Cow, ops::Range};

use crate::memory::{
    Memory, MemoryId, MemoryKind, MemoryType, Owner, Relation, Source, Status, extractor,
};
use memgate_text::{index::Terms, sentences::passages};

/// Characters of a passage of a long answer: about 150 tokens, a paragraph or some lines of a list.
const PASSAGE: usize = 600;

impl MemoryId {
    /// The id of the memory of the turn with this key: the same however often it is made.
    #[must_use]
    pub fn of_turn(owner: &Owner, key: &str) -> Self {
        Self::derived(&[extractor::TURNS, &owner.key(), key])
    }

    /// The id of the memory of a turn's answer, where it is kept whole.
    #[must_use]
    pub fn of_answer(owner: &Owner, key: &str) -> Self {
        Self::derived(&[extractor::TURNS, &owner.key(), key, MemoryType::ANSWER])
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
    /// Makes the memory a turn with these two sides.
    #[must_use]
    pub fn of_turn(self, user: impl Into<String>, reply: Option<String>) -> Self {
        Self { kind: MemoryKind::Turn, content: user.into(), reply, ..self }
    }

    /// Makes the memory a quotation: all that it holds are somebody's words, and none of its data say anything.
    pub fn make_quotation(&mut self) {
        self.content = self.text().into_owned();
        self.reply = None;
        self.structured = None;
        self.kind = MemoryKind::Quotation;
        self.keep_preference_tag();
    }

    /// The two sides of the turn that this memory holds word for word; `None` for any other.
    #[must_use]
    pub fn as_turn(&self) -> Option<(&str, Option<&str>)> {
        (self.kind == MemoryKind::Turn).then_some((&*self.content, self.reply.as_deref()))
    }

    /// The words of a summary; `None` for any other memory.
    #[must_use]
    pub fn as_summary(&self) -> Option<&str> {
        (self.kind == MemoryKind::Summary).then_some(&*self.content)
    }

    /// The content, then a turn's reply.
    pub fn sides(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.content).chain(self.reply.as_deref())
    }

    /// The sides, one a line, as filters search them.
    #[must_use]
    pub fn lines(&self) -> Cow<'_, str> {
        match &self.reply {
            Some(reply) => Cow::Owned(format!("{}\n{reply}", self.content)),
            None => Cow::Borrowed(&self.content),
        }
    }

    /// The memory as one text that says what it is: a turn with who said which side. Words are searched for in it, and
    /// the API shows it.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.text_within(usize::MAX)
    }

    /// The text with at most this many bytes of each side.
    #[must_use]
    pub fn text_within(&self, bytes: usize) -> Cow<'_, str> {
        let within = |side: &'_ str| side.floor_char_boundary(bytes);
        let content = &self.content[..within(&self.content)];
        let reply = self.reply.as_deref().map(|reply| &reply[..within(reply)]);
        match (self.kind, reply) {
            (MemoryKind::Turn, Some(reply)) => {
                Cow::Owned(format!("User: {content}\nAssistant: {reply}"))
            }
            (MemoryKind::Turn, None) => Cow::Owned(format!("User: {content}")),
            (MemoryKind::Summary, _) => Cow::Owned(format!("Session summary: {content}")),
            _ => Cow::Borrowed(content),
        }
    }

    /// The words that a search finds the memory by, counted.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms::of(&self.text())
    }

    /// Gives the memory another content, which somebody wrote: a turn that is edited is none any more.
    pub fn set_text(&mut self, text: &str) {
        if self.text() == text {
            return;
        }
        text.clone_into(&mut self.content);
        self.reply = None;
        if self.is_answer() {
            self.memory_type = MemoryType::new(MemoryType::EPISODIC);
        }
        if matches!(self.kind, MemoryKind::Turn | MemoryKind::Summary) {
            self.kind = MemoryKind::Statement;
        }
    }

    /// Whether it is a long answer, whole.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.kind == MemoryKind::Turn && self.memory_type.as_str() == MemoryType::ANSWER
    }

    /// The passages of the assistant's side of a turn, by their places in it: one, but for a long answer.
    #[must_use]
    pub fn reply_passages(&self) -> Vec<Range<usize>> {
        match &self.reply {
            Some(reply) if self.is_answer() => passages(reply, PASSAGE),
            Some(reply) => std::iter::once(0..reply.len()).collect(),
            None => Vec::new(),
        }
    }

    /// The texts that are embedded, one a vector: each side of a turn, of a long answer each passage, or the text of any other
    /// memory.
    #[must_use]
    pub fn passages(&self) -> Vec<String> {
        match self.kind {
            MemoryKind::Turn if self.is_answer() => {
                let reply = self.reply.as_deref().unwrap_or_default();
                let passages =
                    self.reply_passages().into_iter().map(|range| reply[range].to_owned());
                std::iter::once(self.content.clone()).chain(passages).collect()
            }
            MemoryKind::Turn => self.sides().map(str::to_owned).collect(),
            _ => vec![self.text().into_owned()],
        }
    }

    /// Puts the memory away because another one holds in its place, and links it to that.
    pub fn supersede(&mut self, successor: &MemoryId) {
        self.status = Status::Superseded;
        let link = Relation::new(Relation::SUPERSEDED_BY, successor.clone());
        if !self.relations.contains(&link) {
            self.relations.push(link);
        }
    }

    /// Whether it is a turn in which nothing was found that is worth keeping.
    #[must_use]
    pub fn is_idle_turn(&self) -> bool {
        self.importance <= Self::IDLE_IMPORTANCE && self.as_turn().is_some()
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
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn memory(content: &str) -> Memory {
        let (owner, kind) = (Owner::of_user("u").unwrap(), MemoryType::new(MemoryType::EPISODIC));
        let (id, source) = (MemoryId::fresh(), Source::ExplicitUserInput);
        Memory::new(id, owner, kind, content, source, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn the_users_words_are_told_from_what_others_put_into_words() {
        let memory = |content: &str, source, turn: bool| {
            let mut memory = Memory { source, ..memory(content) };
            memory.provenance.turn = turn.then(|| "t".to_owned());
            memory
        };
        let words = "I fly on Friday";
        let turn = memory("", Source::ExplicitUserInput, false).of_turn(words, Some("Ok".into()));
        assert_eq!(turn.said(), Some(words));
        let mut statement = memory(words, Source::ExplicitUserInput, true);
        assert_eq!(statement.said(), Some(words));
        statement.content.push_str(" (2026-03-13)");
        statement.raw = Some(words.to_owned());
        assert_eq!(statement.said(), Some(words));
        assert_eq!(memory(words, Source::ImplicitInference, true).said(), None);
        assert_eq!(memory(words, Source::ExplicitUserInput, false).said(), None);
    }

    #[test]
    fn a_turn_is_embedded_by_its_sides_and_shown_as_one_text() {
        let turn = memory("").of_turn("I moved", Some("Where to?".to_owned()));
        assert_eq!(turn.text(), "User: I moved\nAssistant: Where to?");
        assert_eq!(turn.passages(), ["I moved", "Where to?"]);
        assert_eq!(memory("").of_turn("I moved", None).passages(), ["I moved"]);
        let statement = memory("User: I moved");
        assert_eq!((statement.as_turn(), &*statement.text()), (None, "User: I moved"));
    }

    #[test]
    fn a_long_answer_is_embedded_by_its_question_and_its_passages() {
        let lines: Vec<String> =
            (1..=20).map(|day| format!("Day {day}: {}", "walk ".repeat(20))).collect();
        let mut answer = memory("").of_turn("Plan my month", Some(lines.join("\n")));
        answer.memory_type = MemoryType::new(MemoryType::ANSWER);
        let passages = answer.passages();
        assert_eq!(passages[0], "Plan my month");
        assert!(passages.len() > 3 && passages.iter().all(|it| it.chars().count() <= PASSAGE));
        assert!(passages[1].starts_with("Day 1:") && passages[2].starts_with("Day 6:"));
    }

    #[test]
    fn an_edited_turn_is_a_statement() {
        let mut turn = memory("").of_turn("I moved", Some("Where to?".to_owned()));
        let same = turn.clone();
        turn.set_text("User: I moved\nAssistant: Where to?");
        assert_eq!(turn, same);
        turn.set_text("I moved to Lyon");
        assert_eq!(
            (turn.kind, turn.passages()),
            (MemoryKind::Statement, vec!["I moved to Lyon".into()])
        );
    }

    #[test]
    fn a_superseded_memory_links_to_its_successor_once() {
        let (mut old, new) = (memory("I live in Rome"), MemoryId::fresh());
        old.supersede(&new);
        old.supersede(&new);
        assert_eq!(old.relations, [Relation::new(Relation::SUPERSEDED_BY, new)]);
        assert_eq!(old.status, Status::Superseded);
    }
}
