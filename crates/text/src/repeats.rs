//! Sentences of a reply that only repeat what is remembered already. Learnt
//! again, one memory would become many, and an outdated one would look new.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    lang,
    sentences::{sentences, words},
};

/// How much of a sentence must be in one memory for it to count as repeated.
const SHARE: f64 = 0.8;

/// A shorter sentence repeats nothing in particular.
const FEWEST_WORDS: usize = 3;

/// Words of grammar, which are in every text.
static GRAMMAR: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.index.grammar).collect());

/// The reply without the sentences that repeat one of the memories.
pub fn drop_repeats(reply: &str, memories: &[String]) -> String {
    if memories.is_empty() {
        return reply.to_owned();
    }
    let known: Vec<HashSet<String>> = memories.iter().map(|memory| terms(memory)).collect();
    let kept: Vec<&str> = sentences(reply).into_iter().filter(|s| !repeats(s, &known)).collect();
    kept.join(" ")
}

fn repeats(sentence: &str, known: &[HashSet<String>]) -> bool {
    let said = terms(sentence);
    said.len() >= FEWEST_WORDS
        && known.iter().any(|memory| {
            let shared = said.intersection(memory).count();
            #[expect(clippy::cast_precision_loss, reason = "counts of the words in a sentence")]
            let share = shared as f64 / said.len() as f64;
            share >= SHARE
        })
}

/// The words that carry meaning.
fn terms(text: &str) -> HashSet<String> {
    words(text).into_iter().filter(|word| !GRAMMAR.contains(word.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_a_memory_holds_goes_and_news_stays() {
        let memories = vec!["User: My budget for the Hawaii trip is $10,000".to_owned()];
        assert_eq!(
            drop_repeats(
                "Your budget for the Hawaii trip is $10,000. Flights cost about $900. Great!",
                &memories
            ),
            "Flights cost about $900. Great!"
        );
        assert_eq!(drop_repeats("Same text.", &[]), "Same text.");
    }
}
