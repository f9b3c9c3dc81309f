//! Texts that can be read without the one before them.

use crate::{
    lang::Language,
    normal::{is_cjk, plain},
};

/// A text without the words that join it to one before: "and I moved" is "I moved". Words mean different things in different
/// languages ("car is new", "car il est neuf"), so only those of the text's language count.
#[must_use]
pub fn without_joining(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(language) = Language::likely(rest) {
        let words = &language.alone().joining;
        let first = rest.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
        let joins = first.len() < rest.len() && words.iter().any(|word| *word == plain(first));
        if !joins {
            break;
        }
        let left = rest[first.len()..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if is_short(left) {
            break;
        }
        rest = left;
    }
    rest
}

/// Whether a text is too short to say anything: fewer than three words, or fewer than four characters in Chinese or
/// Japanese script.
#[must_use]
pub fn is_short(text: &str) -> bool {
    if text.contains(is_cjk) {
        return text.chars().filter(|c| c.is_alphanumeric()).count() < 4;
    }
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() < 3
}

/// The most words, and characters in Chinese or Japanese script, of an answer that needs its question.
const ANSWER: (usize, usize) = (6, 12);

/// Whether a text that follows a question is too short to be understood without it: "A ThinkPad X13.", "only penicillin".
#[must_use]
pub fn needs_its_question(text: &str) -> bool {
    if text.contains(is_cjk) {
        return text.chars().filter(|c| c.is_alphanumeric()).count() <= ANSWER.1;
    }
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() <= ANSWER.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_words_are_left_out_in_the_language_of_the_text() {
        for (text, rest) in [
            ("and my sister is a nurse", "my sister is a nurse"),
            ("so, and then I moved to Leeds with my wife", "I moved to Leeds with my wife"),
            ("und meine Schwester ist Ärztin", "meine Schwester ist Ärztin"),
            ("y mi hermana es médica", "mi hermana es médica"),
            ("Dan is my brother", "Dan is my brother"),
            ("car is new and it is red", "car is new and it is red"),
            ("so tired", "so tired"),
        ] {
            assert_eq!(without_joining(text), rest, "{text}");
        }
    }

    #[test]
    fn a_few_words_or_characters_are_short() {
        assert!(is_short("red shoes !") && is_short("对猫。"));
        assert!(!is_short("I like tea") && !is_short("我吃素了"));
    }
}
