//! In which turns a memory was said, first and again.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::memory::{Memory, Occurrence, extractor};

impl Memory {
    /// Whether the memory is a turn, or was taken from one turn word for word.
    #[must_use]
    pub fn is_word_for_word(&self) -> bool {
        extractor::is_of_one_turn(self.provenance.extractor.as_deref())
    }

    /// The turn or batch that the memory was taken from.
    #[must_use]
    pub fn first_occurrence(&self) -> Option<Occurrence> {
        Some(Occurrence {
            turn: self.provenance.turn.clone()?,
            session: self.session_id.clone(),
            extractor: self.provenance.extractor.clone(),
            said_at: self.provenance.said_at.or(self.event_time),
        })
    }

    /// The turn or batch that the memory was taken from, then those that said it again.
    pub fn occurrences(&self) -> impl Iterator<Item = Occurrence> {
        self.first_occurrence().into_iter().chain(self.provenance.again.iter().cloned())
    }

    /// When the memory was last said, as far as known. A batch that says it again does not count:
    /// it may have read the same words again.
    #[must_use]
    pub fn last_said(&self) -> Option<Timestamp> {
        let again = self.again_in_one_turn();
        again.filter_map(|it| it.said_at).chain(self.provenance.said_at).max()
    }

    /// Whether one of the turns with these keys said it.
    #[must_use]
    pub fn is_said_in(&self, turns: &HashSet<String>) -> bool {
        let again = self.again_in_one_turn();
        again.map(|it| &it.turn).chain(&self.provenance.turn).any(|turn| turns.contains(turn))
    }

    fn again_in_one_turn(&self) -> impl Iterator<Item = &Occurrence> {
        self.provenance.again.iter().filter(|it| it.is_of_one_turn())
    }
}
