//! Content words and token sets, for callers outside of search.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::index::{
    lexicon,
    tokens::{self, Side, Token},
};

/// The content words, as written in the text. In a script without spaces, a run of characters is
/// one word.
#[must_use]
pub fn content_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut run: Option<(usize, usize)> = None;
    for (start, segment) in text.split_word_bound_indices() {
        let unspaced = segment.chars().all(tokens::is_unspaced);
        match (&mut run, unspaced) {
            (Some((_, end)), true) => *end = start + segment.len(),
            (None, true) => run = Some((start, start + segment.len())),
            (_, false) => {
                words.extend(run.take().map(|(start, end)| &text[start..end]));
                if segment.chars().any(char::is_alphanumeric) && !is_function_word(segment) {
                    words.push(segment);
                }
            }
        }
    }
    words.extend(run.map(|(start, end)| &text[start..end]));
    words
}

fn is_function_word(word: &str) -> bool {
    let folded = tokens::bare(&word.to_lowercase()).replace(['\'', '’'], "");
    lexicon::is_light(&folded)
}

/// The set of a text's tokens; equal sets mean equal statements.
#[must_use]
pub fn token_set(text: &str) -> HashSet<String> {
    let mut set = HashSet::new();
    tokens::tokens(text, Side::Document, |token| {
        if !token.beside && !set.contains(token.text) {
            set.insert(token.text.to_owned());
        }
    });
    set
}

/// The set of a text's content tokens.
#[must_use]
pub fn meaning_set(text: &str) -> HashSet<String> {
    meaning_words(text).into_iter().collect()
}

/// A text's content tokens, in order.
#[must_use]
pub fn meaning_words(text: &str) -> Vec<String> {
    in_order(text, |token| !token.light)
}

/// All of a text's tokens, in order.
#[must_use]
pub fn stemmed_words(text: &str) -> Vec<String> {
    in_order(text, |_| true)
}

fn in_order(text: &str, is_wanted: impl Fn(&Token<'_>) -> bool) -> Vec<String> {
    let mut words = Vec::new();
    tokens::tokens(text, Side::Query, |token| {
        if is_wanted(&token) {
            words.push(token.text.to_owned());
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_words_exclude_function_words() {
        assert_eq!(
            content_words("What's my budget for the Hawaii trip?"),
            ["budget", "Hawaii", "trip"]
        );
        assert_eq!(content_words("Wie war die Größe für Müller?"), ["Größe", "Müller"]);
        assert_eq!(content_words("and that?"), Vec::<&str>::new());
    }

    #[test]
    fn a_run_without_spaces_is_one_word() {
        assert_eq!(content_words("去Hawaii旅行"), ["去", "Hawaii", "旅行"]);
    }

    #[test]
    fn token_sets_ignore_spelling() {
        assert_eq!(token_set("The Budget, is $10,000!"), token_set("the budget is $10,000"));
        assert_eq!(token_set("我的预算。"), token_set("我的预算"));
        assert_eq!(meaning_set("The budget, is it $10,000?"), meaning_set("budget 10000"));
    }
}
