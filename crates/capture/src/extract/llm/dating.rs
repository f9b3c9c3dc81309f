//! When a fact of a batch was said. The model reads many turns at once, and what holds is what was
//! said last.

use std::collections::HashSet;

use crate::{candidate::Candidate, turn::StoredTurn};
use memgate_text::sentences;

/// The share of a fact's words that must be among those of the turn that it was said in.
const SAID: f64 = 0.8;

/// Gives each candidate the time of the last turn that its words stand in. Where they stand in none,
/// it counts as said with the first, so that it takes the place of nothing said since.
pub(crate) fn date(candidates: &mut [Candidate], turns: &[StoredTurn]) {
    let told: Vec<HashSet<String>> =
        turns.iter().map(|turn| sentences::words(&turn.user_text).into_iter().collect()).collect();
    for candidate in candidates {
        let words = sentences::words(candidate.raw.as_ref().unwrap_or(&candidate.content));
        let said = told.iter().rposition(|told| share(&words, told) >= SAID);
        candidate.said_at = said.map_or(turns.first(), |at| turns.get(at)).map(|turn| turn.began);
    }
}

/// Which part of some words is among others; nothing of none.
fn share(words: &[String], among: &HashSet<String>) -> f64 {
    if words.is_empty() {
        return 0.0;
    }
    let found = words.iter().filter(|word| among.contains(*word)).count();
    #[expect(clippy::cast_precision_loss, reason = "counts of the words in a sentence")]
    let share = found as f64 / words.len() as f64;
    share
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::test_support::{at, stored_turn};

    #[test]
    fn a_fact_was_said_when_its_words_were_said_last() {
        let said = ["I live in Paris", "We moved to Lyon", "I like tea", "As I said, I like tea"];
        let turns: Vec<StoredTurn> = (0..)
            .zip(said)
            .map(|(n, text)| StoredTurn { began: at(n * 60), ..stored_turn("k", text, "Fine") })
            .collect();
        let quoted = |words: Option<&str>| Candidate {
            content: "The user said something.".into(),
            raw: words.map(str::to_owned),
            ..Candidate::default()
        };
        let mut found = [quoted(Some("I live in Paris")), quoted(Some("I like tea")), quoted(None)];
        date(&mut found, &turns);
        let dates: Vec<Timestamp> = found.iter().map(|found| found.said_at.unwrap()).collect();
        assert_eq!(dates, [at(0), at(180), at(0)]);
    }
}
