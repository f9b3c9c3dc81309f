//! Repetition: a memory that is said again is surer, counts how often, and knows the turns that said
//! it, so that forgetting it reaches them. Other words for it are not kept: they stand in their turn.

use serde_json::{Value, json};

use crate::reconcile::origin::Origin;
use memgate_core::memory::{Memory, Occurrence};

/// How often it was said again.
const COUNT: &str = "reinforced";

/// How many of the turns that said it again are known, the last of them.
const MOST: usize = 20;

/// The part of the doubt that is left after another time.
const DOUBT_LEFT: f32 = 0.8;

/// Nothing is surer.
const SUREST: f32 = 0.99;

/// A memory that was said again.
pub(super) struct Reinforced {
    pub(super) memory: Memory,
    /// Whether that was another time, and not the same one found twice.
    pub(super) counts: bool,
}

/// The memory, said again in these words; `None` where that is known already.
pub(super) fn reinforced(memory: &Memory, origin: &Origin, words: &str) -> Option<Reinforced> {
    let new = Occurrence {
        turn: origin.turn.clone(),
        session: Some(origin.session.clone()),
        extractor: Some(origin.extractor.name.to_owned()),
        said_at: Some(origin.at),
    };
    if memory.occurrences().any(|known| covers(&known, &new)) {
        return None;
    }
    let counts = !memory.occurrences().any(|known| overlap(&known, &new));
    let mut memory = memory.clone();
    let is_later = memory.last_said().is_none_or(|last| last <= origin.at);
    let same_words = memory.content == words || memory.raw.as_deref() == Some(words);
    let mut again = std::mem::take(&mut memory.provenance.again);
    again.retain(|known| !covers(&new, known));
    if is_later && same_words && memory.is_word_for_word() && new.is_of_one_turn() {
        again.extend(memory.first_occurrence());
        memory.session_id = Some(origin.session.clone());
        memory.provenance = origin.provenance();
    } else {
        again.push(new);
    }
    again.drain(..again.len().saturating_sub(MOST));
    memory.provenance.again = again;
    if is_later {
        memory.set_may_have_changed(None);
    }
    if counts {
        let count = memory.metadata.get(COUNT).and_then(Value::as_u64).unwrap_or(0);
        memory.metadata.insert(COUNT.into(), json!(count + 1));
        memory.confidence =
            memory.confidence.map(|sure| SUREST.min(1.0 - (1.0 - sure) * DOUBT_LEFT).max(sure));
    }
    Some(Reinforced { memory, counts })
}

/// Whether forgetting the one forgets the other: the same turn, or a batch and an earlier batch
/// of its session.
fn covers(known: &Occurrence, new: &Occurrence) -> bool {
    if known.is_of_one_turn() || new.is_of_one_turn() {
        return known.turn == new.turn && known.is_of_one_turn() == new.is_of_one_turn();
    }
    known.session == new.session && known.said_at >= new.said_at
}

/// Whether two may be one time: two extractors find one sentence, and batches of a session overlap.
fn overlap(known: &Occurrence, new: &Occurrence) -> bool {
    known.turn == new.turn
        || known.session == new.session
            && match (known.is_of_one_turn(), new.is_of_one_turn()) {
                (true, true) => false,
                // Turns after the batch are no part of it.
                (false, true) => new.said_at <= known.said_at,
                (_, false) => true,
            }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        candidate::Candidate,
        extractor::{EXPLICIT, Extractor, LLM, LOCAL},
        test_support::{at, owner},
    };

    fn origin(extractor: Extractor, turn: &str) -> Origin {
        let seconds = turn.bytes().map(i64::from).sum();
        Origin {
            extractor,
            owner: owner("alice"),
            project: None,
            agent: None,
            session: "s".into(),
            turn: turn.into(),
            at: at(seconds),
            request_id: None,
            speaker: None,
            typed: memgate_text::command::Typed::default(),
        }
    }

    fn fact(origin: &Origin) -> Memory {
        let candidate = Candidate {
            memory_type: "semantic".into(),
            content: "I'm vegan".into(),
            ..Candidate::default()
        };
        origin.memory_of(&candidate, at(0))
    }

    fn count(memory: &Memory) -> u64 {
        memory.metadata.get(COUNT).and_then(Value::as_u64).unwrap_or(0)
    }

    #[test]
    fn one_utterance_counts_once_whoever_finds_it_and_each_turn_is_known() {
        let local = |turn| origin(LOCAL, turn);
        let explicit = |turn| origin(EXPLICIT, turn);
        let batch = |turn| origin(LLM, turn);
        let mut memory = fact(&local("a"));
        for (origin, counted) in [
            (local("a"), 0),
            (explicit("a"), 0),
            (batch("b"), 0),
            (local("b"), 0),
            (local("c"), 1),
            (batch("d"), 1),
            (batch("d"), 1),
            (batch("c"), 1),
        ] {
            if let Some(known) = reinforced(&memory, &origin, "I'm vegan") {
                memory = known.memory;
            }
            assert_eq!(count(&memory), counted, "{} {}", origin.extractor.name, origin.turn);
        }
        let mut turns: Vec<_> = memory.occurrences().map(|said| said.turn).collect();
        turns.sort();
        assert_eq!(turns, ["a", "b", "c", "d"]);
    }

    #[test]
    fn it_belongs_to_the_last_turn_with_its_words_and_other_words_are_not_kept() {
        let first = Origin { session: "first".into(), ..origin(LOCAL, "a") };
        let memory = fact(&first);
        let other = origin(LOCAL, "b");
        let memory = reinforced(&memory, &other, "Vegan is what I am").unwrap().memory;
        assert_eq!(memory.provenance.turn.as_deref(), Some("a"));
        assert!(!format!("{memory:?}").contains("Vegan is what I am"));
        let memory = reinforced(&memory, &origin(LOCAL, "c"), "I'm vegan").unwrap().memory;
        assert_eq!(memory.provenance.turn.as_deref(), Some("c"));
        assert_eq!(memory.session_id.as_deref(), Some("s"));
        let early = reinforced(&memory, &origin(LOCAL, "B"), "I'm vegan").unwrap();
        assert_eq!(early.memory.provenance.turn.as_deref(), Some("c"), "learnt late");
        assert_eq!(early.memory.provenance.again.len(), 3);
    }

    #[test]
    fn said_again_later_it_is_not_in_doubt() {
        let mut memory = fact(&origin(LOCAL, "b"));
        memory.set_may_have_changed(Some(at(1)));
        let early = reinforced(&memory, &origin(LOCAL, "a"), "I'm vegan").unwrap().memory;
        assert!(early.may_have_changed().is_some(), "learnt late");
        let again = reinforced(&memory, &origin(LOCAL, "c"), "I'm vegan").unwrap().memory;
        assert_eq!(again.may_have_changed(), None);
    }

    #[test]
    fn only_the_last_turns_are_known() {
        let mut memory = fact(&origin(LOCAL, "0"));
        for turn in 1..100 {
            let turn = format!("{turn:02}");
            let again = origin(LOCAL, &turn);
            memory = reinforced(&memory, &again, "in other words").unwrap().memory;
        }
        assert_eq!(count(&memory), 99);
        assert_eq!(memory.provenance.again.len(), MOST);
        assert_eq!(memory.provenance.again.last().unwrap().turn, "99");
    }
}
