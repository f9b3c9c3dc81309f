//! Words of one language that say that something is over.

use std::{collections::HashMap, sync::LazyLock};

use regex::RegexSet;

use crate::{lang::Language, normal::plain};

/// The patterns of what is over, by language.
#[expect(clippy::expect_used, reason = "the patterns are constants; the test compiles them")]
static OVER: LazyLock<HashMap<Language, RegexSet>> = LazyLock::new(|| {
    let of = |language: Language| {
        let file = language.file();
        let patterns = file.alone.ended.iter().chain(&file.topic.over);
        let patterns = patterns.map(|pattern| format!("(?i){pattern}"));
        (language, RegexSet::new(patterns).expect("a pattern compiles"))
    };
    Language::ALL.iter().copied().map(of).collect()
});

/// Whether a text says that something is over: "was", "until May", "no longer".
#[must_use]
pub fn says_over(text: &str, language: Language) -> bool {
    OVER.get(&language).is_some_and(|patterns| patterns.is_match(&plain(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(code: &str) -> Language {
        Language::of_code(code).unwrap()
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
