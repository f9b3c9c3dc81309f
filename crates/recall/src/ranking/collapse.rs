//! Collapses a turn with the statements taken from it.

use crate::{hit::Hit, retrieve::quoted, text::view};
use memgate_core::memory::Memory;

/// Keeps of a turn and the statements taken from it either the statements or the turn. A statement says the fact alone, so
/// the best of them takes the turn's place where it is as relevant, or names whom the turn only points at; else what is asked stands in the rest of the turn,
/// which holds the statements besides, and takes the place of the best of them.
/// Returns these, and those that they stand for.
pub(super) fn facts_or_turns(mut hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
    let turns: Vec<usize> = (0..hits.len()).filter(|&at| is_turn(&hits[at].memory)).collect();
    let mut dropped = vec![false; hits.len()];
    for turn in turns {
        let of_it =
            |at: &usize| !dropped[*at] && is_statement_of(&hits[*at].memory, &hits[turn].memory);
        let statements: Vec<usize> = (0..hits.len()).filter(of_it).collect();
        let relevant = |at: &&usize| hits[**at].score;
        let Some(&best) = statements.iter().max_by(|a, b| relevant(a).total_cmp(&relevant(b)))
        else {
            continue;
        };
        if hits[best].score >= hits[turn].score || completes(&hits[best].memory, &hits[turn].memory)
        {
            if turn < best {
                hits.swap(turn, best);
                dropped[best] = true;
            } else {
                dropped[turn] = true;
            }
            continue;
        }
        let first = statements.iter().copied().min().unwrap_or(turn);
        if first < turn {
            hits.swap(first, turn);
            dropped[turn] = true;
        }
        statements
            .into_iter()
            .filter(|&at| at != first || first > turn)
            .for_each(|at| dropped[at] = true);
    }
    let mut dropped = dropped.into_iter();
    let collapsed = hits.extract_if(.., |_| dropped.next().unwrap_or(false)).collect();
    (hits, collapsed)
}

fn is_turn(memory: &Memory) -> bool {
    memory.as_turn().is_some() && memory.provenance.turn.is_some()
}

/// Whether a statement holds most of its turn, after a sentence of an earlier message: what "she" means there.
fn completes(statement: &Memory, turn: &Memory) -> bool {
    match (statement.said(), turn.as_turn()) {
        (Some(words), Some((said, _))) => {
            let own = quoted(words);
            own.len() < words.len()
                && own.len() * 2 > said.len()
                && !view::showable(said).contains(words)
        }
        _ => false,
    }
}

/// Whether a memory says what the user said in a turn, word for word.
fn is_statement_of(memory: &Memory, turn: &Memory) -> bool {
    memory.owner == turn.owner
        && memory.provenance.turn == turn.provenance.turn
        && match (memory.as_turn(), memory.said(), turn.as_turn()) {
            (None, Some(words), Some((said, _))) => view::showable(said).contains(quoted(words)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{MemoryId, MemoryType, Owner, Source};

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
        Hit { memory, scope: crate::HitScope::default(), score, breakdown }
    }

    const TURN: &str = "Hi! I fly to Rome on Friday. My cat stays.";

    fn shown(hits: Vec<Hit>) -> Vec<(String, f32)> {
        facts_or_turns(hits).0.into_iter().map(|hit| (hit.memory.content, hit.score)).collect()
    }

    fn turn(score: f32) -> Hit {
        turn_of(TURN, score)
    }

    fn turn_of(text: &str, score: f32) -> Hit {
        let mut hit = hit("", None, "a", score);
        hit.memory = hit.memory.of_turn(text, Some("Good trip!".to_owned()));
        hit
    }

    #[test]
    fn a_statement_as_relevant_as_its_turn_stands_for_it() {
        let flight = "I fly to Rome on Friday (2026-03-13).";
        let statements = [
            hit("My cat stays.", None, "a", 0.3),
            hit(flight, Some("I fly to Rome on Friday."), "a", 0.8),
            hit("My cat stays.", None, "b", 0.2),
        ];
        let found = |turn: Hit| [vec![turn], statements.to_vec()].concat();
        let expected = [(flight, 0.8), ("My cat stays.", 0.3), ("My cat stays.", 0.2)];
        let expected = expected.map(|(words, score)| (words.to_owned(), score));
        assert_eq!(shown(found(turn(0.8))), expected);
    }

    #[test]
    fn a_turn_that_is_far_more_relevant_stands_for_its_statements() {
        let fact = "The user's sister lives in Rome.";
        let hits = vec![
            hit("My cat stays.", None, "a", 0.4),
            hit(fact, None, "a", 0.3),
            turn(0.9),
            hit("My cat stays.", None, "c", 0.2),
        ];
        let expected = [(TURN, 0.9), (fact, 0.3), ("My cat stays.", 0.2)];
        let expected = expected.map(|(words, score)| (words.to_owned(), score));
        assert_eq!(shown(hits), expected);
    }

    #[test]
    fn a_statement_that_names_whom_its_turn_points_at_stands_for_it() {
        let short = "She bakes bread every Sunday.";
        let whole = "My neighbour is called Solveig. She bakes bread every Sunday.";
        let hits = vec![turn_of(short, 0.9), hit(whole, None, "a", 0.7)];
        assert_eq!(shown(hits), [(whole.to_owned(), 0.7)]);
        // The rest of a longer turn may hold the answer.
        let longer = "She bakes bread every Sunday. My cat Olaf is nine and lives in Oslo.";
        let hits = vec![turn_of(longer, 0.9), hit(whole, None, "a", 0.7)];
        assert_eq!(shown(hits), [(longer.to_owned(), 0.9)]);
    }
}
