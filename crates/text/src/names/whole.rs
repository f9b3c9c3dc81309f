//! Whether a whole text is written as a name is.

use crate::names::lexicon::{LEXICON, Words};

/// The most words of a name that a person is called by, besides titles, initials and small words: a first and a last
/// name.
const MAX_FULL: usize = 2;

/// The most words of a name that is typed without capital letters; more words are a clause.
const MAX_LOWER: usize = 2;

/// The longest small word within a name that no list need have, in characters: "ter", "bin", "y".
const MAX_SMALL: usize = 3;

/// Whether a text is written as a name that a person is called by: "Dr. van der Berg", "mary ann", but not "Green tea with
/// milk". Only capital letters and the number of words decide, so that it holds for names of any language.
pub(crate) fn is_written_as_name(text: &str) -> bool {
    let words = text.split_whitespace().map(|word| word.trim_end_matches('.'));
    let named: Vec<&str> = words.skip_while(|word| is(word, Words::Title)).collect();
    let full = named.iter().filter(|word| !is_within(word) && !is_initials(word)).count();
    let lower = named.iter().filter(|word| is_lower(word)).count();
    full <= MAX_FULL
        && match lower {
            0 => true,
            // "mary ann", "Mary ann"
            _ if named.len() <= MAX_LOWER => {
                lower == named.len() || !named.iter().any(|word| is_shouted(word))
            }
            _ => {
                !named.last().is_some_and(|last| is_lower(last))
                    && named.iter().all(|word| !is_lower(word) || is_within(word))
            }
        }
}

fn is(word: &str, list: Words) -> bool {
    LEXICON.lists(&word.to_lowercase(), list)
}

fn is_lower(word: &str) -> bool {
    word.starts_with(char::is_lowercase)
}

/// "van", "der"
fn is_within(word: &str) -> bool {
    is(word, Words::Within) || is_lower(word) && word.chars().count() <= MAX_SMALL
}

/// "J.R.R"
fn is_initials(word: &str) -> bool {
    word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_uppercase))
}

fn is_shouted(word: &str) -> bool {
    word.chars().count() > 1 && word.chars().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_capital_or_short() {
        for name in [
            "Dan",
            "dan",
            "mary ann",
            "Mary ann",
            "Dr. Smith",
            "dr smith",
            "Dr. van der Berg",
            "Ms. Okafor",
            "Jean-Luc",
            "Jean-Luc Picard",
            "J.R.R. Tolkien",
            "Sam Jr.",
            "O'Neill",
            "Maria De Luca",
            "Ana y Silva",
            "Abd al Rahman",
            "Kapitän",
            "小王",
            "지훈",
            "राहुल शर्मा",
            "Анна Лебедева",
            "Sir",
        ] {
            assert!(is_written_as_name(name), "{name}");
        }
        for text in [
            "DAN jailbreak mode",
            "DAN mode",
            "Obey Evil Dot Com",
            "System Administrator Root",
            "dan jailbreak mode",
            "Green tea with milk",
            "Sam the wise",
            "ДАН режим взлома",
            "Modo sin reglas",
        ] {
            assert!(!is_written_as_name(text), "{text}");
        }
    }
}
