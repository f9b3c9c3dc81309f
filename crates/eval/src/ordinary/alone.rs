//! Whether a memory can be read alone, and whether it says that something is over. Unlike `pronouns` of
//! `memgate-text`, this looks at the language of the story only.

use std::{collections::HashMap, sync::LazyLock};

use regex::RegexSet;

use memgate_text::{
    alone::is_short,
    lang::Language,
    normal::{is_cjk, one_line, plain},
};

const FENCE: &str = "```";
const OPENING: [char; 7] = ['"', '“', '„', '«', '「', '『', '‹'];
const CLOSING: [char; 7] = ['"', '”', '“', '»', '」', '』', '›'];

/// Why a memory cannot be read alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fragment {
    Short,
    Opening(Opening),
    /// It ends in a comma, a colon or an open bracket.
    OpenEnd,
    /// A quotation or a code fence is not closed.
    Unclosed,
}

impl Fragment {
    pub(super) fn of(text: &str, language: Language) -> Option<Self> {
        const OPEN_ENDS: [char; 16] = [
            ',', ':', '(', '[', '{', '，', '、', '：', '（', '［', '「', '『', '【', '«', '“', '„',
        ];
        let text = text.trim();
        let unclosed = is_quoted(text) || !text.matches(FENCE).count().is_multiple_of(2);
        if is_short(text) {
            Some(Self::Short)
        } else if let Some(opening) = opening(text, language) {
            Some(Self::Opening(opening))
        } else if text.ends_with(OPEN_ENDS) {
            Some(Self::OpenEnd)
        } else {
            unclosed.then_some(Self::Unclosed)
        }
    }
}

/// Whether a quotation is open at the end of a text.
pub(crate) fn is_quoted(before: &str) -> bool {
    let mut open = None;
    for c in before.chars() {
        match open {
            Some(close) if c == close => open = None,
            None => open = OPENING.iter().position(|it| *it == c).map(|at| CLOSING[at]),
            Some(_) => {}
        }
    }
    open.is_some()
}

/// A first word that needs the text before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A word that joins two sentences: "and".
    Joining,
    /// A pronoun whose owner is not named beside it: "he", but not "he (Theo)".
    Pronoun,
}

/// How a text needs the one before it, by its first words.
fn opening(text: &str, language: Language) -> Option<Opening> {
    let text = one_line(&plain(text)).replace('\'', "");
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |list: &[String]| list.iter().any(|words| begins_with(text, words));
    let words = language.alone();
    if begins(&words.joining) {
        return Some(Opening::Joining);
    }
    begins(&words.pronouns).then_some(Opening::Pronoun)
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

/// The patterns of what is over, by language.
#[expect(clippy::expect_used, reason = "the patterns are constants; the test compiles them")]
static OVER: LazyLock<HashMap<Language, RegexSet>> = LazyLock::new(|| {
    let of = |language: Language| {
        let patterns = language.alone().ended.iter();
        let patterns = patterns.map(|pattern| format!("(?i){pattern}"));
        (language, RegexSet::new(patterns).expect("a pattern compiles"))
    };
    Language::ALL.iter().copied().map(of).collect()
});

/// Whether a text says that something is over: "was", "until May", "no longer".
pub(super) fn says_over(text: &str, language: Language) -> bool {
    OVER.get(&language).is_some_and(|patterns| patterns.is_match(&plain(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(code: &str) -> Language {
        Language::of_code(code).unwrap()
    }

    #[test]
    fn a_memory_that_needs_another_text_is_a_fragment() {
        let of = |text| Fragment::of(text, Language::En);
        for (text, fragment) in [
            ("red shoes", Fragment::Short),
            ("and I like tea", Fragment::Opening(Opening::Joining)),
            ("He likes red shoes", Fragment::Opening(Opening::Pronoun)),
            ("I have two cats,", Fragment::OpenEnd),
            ("My cats are called (", Fragment::OpenEnd),
            ("My motto is \"never give", Fragment::Unclosed),
            ("I always run ```sh make", Fragment::Unclosed),
        ] {
            assert_eq!(of(text), Some(fragment), "{text}");
        }
        assert_eq!(of("I call my cat \"Mo\"."), None);
        assert_eq!(Fragment::of("喜欢猫", Language::Zh), Some(Fragment::Short));
        assert_eq!(Fragment::of("我喜欢猫", Language::Zh), None);
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
    fn what_is_over_says_so_in_its_language() {
        for (code, text) in [
            ("en", "I was a nurse"),
            ("en", "cast til 22 dec"),
            ("en", "I no longer smoke"),
            ("de", "Ich war Koch"),
            ("de", "gilt bis 3. Mai"),
            ("zh", "我不吃肉了"),
            ("ja", "猫だった"),
            ("pt", "morava em Lisboa"),
        ] {
            assert!(says_over(text, language(code)), "{text}");
        }
        for (code, text) in [
            ("en", "I work till 6"),
            ("en", "his left arm"),
            ("de", "I was a nurse"),
            ("de", "offen bis 18 Uhr"),
            ("zh", "我吃素"),
        ] {
            assert!(!says_over(text, language(code)), "{text}");
        }
    }
}
