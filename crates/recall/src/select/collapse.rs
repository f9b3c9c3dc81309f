//! Collapses hits that repeat each other: a turn with the statements taken from it, and a session's summary with the
//! memories it sums up.

use std::collections::HashMap;

use crate::hit::Hit;
use memgate_core::memory::{Memory, MemoryKind};

/// Takes the summaries of sessions out of the hits. A fact or a turn says it better; beside these a summary repeats
/// them, or says what they have corrected since.
pub(super) fn without_summaries(hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
    hits.into_iter().partition(|hit| hit.memory.kind() != MemoryKind::Summary)
}

/// Keeps of a turn and the statements taken from it only the turn, which holds them and the answer besides. It takes the
/// place, the score and the breakdown of the best of them.
pub(crate) fn with_their_turns(mut hits: Vec<Hit>) -> Vec<Hit> {
    let turns: HashMap<&str, usize> = (0..)
        .zip(&hits)
        .filter(|(_, hit)| hit.memory.as_turn().is_some())
        .filter_map(|(at, hit)| Some((hit.memory.provenance.turn.as_deref()?, at)))
        .collect();
    let turn_of = |hit: &Hit| {
        let at = *turns.get(hit.memory.provenance.turn.as_deref()?)?;
        is_statement_of(&hit.memory, &hits[at].memory).then_some(at)
    };
    let turn_of: Vec<Option<usize>> = hits.iter().map(turn_of).collect();
    let mut dropped = vec![false; hits.len()];
    let mut placed = vec![false; hits.len()];
    for (at, turn) in turn_of.into_iter().enumerate() {
        let Some(turn) = turn else { continue };
        if at < turn && !placed[turn] {
            let (before, from) = hits.split_at_mut(turn);
            std::mem::swap(&mut before[at].memory, &mut from[0].memory);
            placed[turn] = true;
            dropped[turn] = true;
        } else {
            dropped[at] = true;
        }
    }
    let mut dropped = dropped.into_iter();
    hits.retain(|_| !dropped.next().unwrap_or(false));
    hits
}

/// Whether a memory says what the user said in a turn, word for word.
fn is_statement_of(memory: &Memory, turn: &Memory) -> bool {
    match (memory.as_turn(), memory.said(), turn.as_turn()) {
        (None, Some(words), Some((said, _))) => said.contains(words),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{MemoryId, MemoryType, Owner, Source, turn_content};

    /// A hit made of a turn; it was said in the words of `raw` where it is a rewording.
    fn hit(content: &str, raw: Option<&str>, turn: &str, score: f32) -> Hit {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        memory.raw = raw.map(str::to_owned);
        memory.provenance.turn = Some(turn.to_owned());
        let breakdown =
            ScoreBreakdown { cosine: Some(score), length: 1.0, ..ScoreBreakdown::default() };
        Hit { memory, score, breakdown }
    }

    #[test]
    fn a_turn_and_the_statements_of_it_are_one_hit_at_the_best_place() {
        let turn = turn_content("Hi! I fly to Rome on Friday. My cat stays.", Some("Good trip!"));
        let other = turn_content("I fly home on Sunday", None);
        let hits = with_their_turns(vec![
            hit(
                "I fly to Rome on Friday (2026-03-13).",
                Some("I fly to Rome on Friday."),
                "a",
                0.9,
            ),
            hit(&other, None, "b", 0.8),
            hit("My cat stays.", None, "a", 0.7),
            hit(&turn, None, "a", 0.6),
            hit("I fly home on Sunday", None, "b", 0.5),
            hit("The user's sister lives in Rome.", None, "b", 0.4),
            hit("My cat stays.", None, "c", 0.3),
        ]);
        let shown: Vec<_> = hits.iter().map(|hit| (&*hit.memory.content, hit.score)).collect();
        let fact = "The user's sister lives in Rome.";
        assert_eq!(shown, [(&*turn, 0.9), (&*other, 0.8), (fact, 0.4), ("My cat stays.", 0.3)]);
        assert!(hits[0].memory.raw.is_none());
    }
}
