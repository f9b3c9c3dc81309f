//! Key terms: words of the user's last messages that complete a vague question, first those that
//! few of the conversation's messages have.

use std::collections::{HashMap, HashSet};

use crate::{index, question::asking::first_chars};

/// User messages before the last one that lend their key terms.
const LENDING: usize = 3;
/// Messages that tell how usual a word is in this conversation.
const COUNTED: usize = 32;
/// Characters of each earlier message that are searched for key terms.
const READ: usize = 2_000;
/// Key terms lent altogether; more would drown the question.
pub const MOST: usize = 12;

/// The content words of the last user messages that the question does not have already, the rarest of the
/// conversation first and of equally rare ones those said last. `earlier` is oldest first.
pub fn of(question: &str, earlier: &[&str]) -> Vec<String> {
    let counted: Vec<Vec<&str>> = earlier
        .iter()
        .rev()
        .take(COUNTED)
        .map(|message| index::content_words(first_chars(message, READ)))
        .collect();
    let mut usual: HashMap<String, usize> = HashMap::new();
    for words in &counted {
        for word in words.iter().map(|word| word.to_lowercase()).collect::<HashSet<_>>() {
            *usual.entry(word).or_default() += 1;
        }
    }
    let mut seen: HashSet<String> =
        index::content_words(question).into_iter().map(str::to_lowercase).collect();
    let mut terms: Vec<(usize, &str)> = Vec::new();
    for word in counted.iter().take(LENDING).flatten() {
        let folded = word.to_lowercase();
        if seen.contains(&folded) {
            continue;
        }
        terms.push((usual.get(&folded).copied().unwrap_or(1), word));
        seen.insert(folded);
    }
    // The inverse frequency falls as the count rises, so the count alone orders. Stable: newer words stay before older.
    terms.sort_by_key(|(messages, _)| *messages);
    terms.into_iter().take(MOST).map(|(_, word)| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_stand_in_many_messages_give_way_to_rare_ones() {
        let usual = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda sigma";
        let rare = format!("{usual} Lisbon");
        let earlier = [usual, usual, usual, &rare, usual];
        let terms = of("and that?", &earlier);
        assert_eq!((terms.len(), &*terms[0]), (MOST, "Lisbon"));
    }

    #[test]
    fn of_equally_rare_words_those_said_last_come_first() {
        assert_eq!(
            of("how much?", &["Oslo trip", "Rome hotel"]),
            ["Rome", "hotel", "Oslo", "trip"]
        );
    }
}
