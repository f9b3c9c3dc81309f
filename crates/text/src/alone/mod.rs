//! Whether a text of a known language can be read alone: how it begins, and whether it says that something is over.
//! Unlike `pronouns`, this looks at one language only, for measuring.

mod over;

pub use self::over::says_over;

use crate::{
    lang::Language,
    normal::{is_cjk, one_line, plain},
};

/// A first word that needs the text before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A word that joins two sentences: "and".
    Joining,
    /// A pronoun whose owner is not named beside it: "he", but not "he (Theo)".
    Pronoun,
}

/// How a text needs the one before it, by its first words.
#[must_use]
pub fn opening(text: &str, language: Language) -> Option<Opening> {
    let text = one_line(&plain(text)).replace('\'', "");
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |list: &[String]| list.iter().any(|words| begins_with(text, words));
    let words = &language.file().alone;
    if begins(&words.joining) {
        return Some(Opening::Joining);
    }
    begins(&words.pronouns).then_some(Opening::Pronoun)
}

/// A text without the words that join it to one before: "and I moved" is "I moved". Words mean different things in different
/// languages ("car is new", "car il est neuf"), so only those of the text's language count.
#[must_use]
pub fn without_joining(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(language) = Language::likely(rest) {
        let words = &language.file().alone.joining;
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

/// Whether a text begins with these words, and their owner is not named in brackets behind them.
fn begins_with(text: &str, words: &str) -> bool {
    let Some(rest) = text.strip_prefix(words) else {
        return false;
    };
    // In these scripts words follow each other, or their endings, without a space.
    let unspaced = words.ends_with(|c| is_cjk(c) || ('\u{ac00}'..='\u{d7a3}').contains(&c));
    let is_whole = unspaced || !rest.starts_with(char::is_alphanumeric);
    is_whole && !rest.trim_start().starts_with(['(', '（'])
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

#[cfg(test)]
mod tests {
    use super::*;

    fn language(code: &str) -> Language {
        Language::of_code(code).unwrap()
    }

    #[test]
    fn a_text_that_begins_with_a_joining_word_or_a_bare_pronoun_needs_another() {
        use Opening::{Joining, Pronoun};
        for (code, text, expected) in [
            ("en", "and I moved", Some(Joining)),
            ("en", "\"He's nine", Some(Pronoun)),
            ("en", "that one please", Some(Pronoun)),
            ("en", "this one please", Some(Pronoun)),
            ("en", "Itzel is my sister", None),
            ("en", "he (Theo) is nine", None),
            ("en", "this week I fast", None),
            ("de", "es geht nicht", Some(Pronoun)),
            ("es", "es caro", None),
            ("fr", "c'est cher", Some(Pronoun)),
            ("zh", "她喜欢猫", Some(Pronoun)),
            ("zh", "但是我吃素", Some(Joining)),
            ("zh", "我姐是护士", None),
            ("ko", "그래서 이사했어", Some(Joining)),
            ("hi", "उसका नाम रवि है", Some(Pronoun)),
        ] {
            assert_eq!(opening(text, language(code)), expected, "{text}");
        }
    }

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
