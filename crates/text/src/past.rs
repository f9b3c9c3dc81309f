//! Words that say that a statement is over.

use std::sync::LazyLock;

use regex::RegexSet;

use crate::lang;

#[expect(clippy::expect_used, reason = "the patterns are constants; the test compiles them")]
static OVER: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = lang::all(|file| &file.topic.over).map(|pattern| format!("(?i){pattern}"));
    RegexSet::new(patterns).expect("a pattern compiles")
});

/// Whether a text says that something is over: "I used to smoke".
#[must_use]
pub fn is_over(text: &str) -> bool {
    OVER.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_is_known_by_its_words() {
        for text in ["I used to smoke", "Ich wohne nicht mehr in Bern", "我以前住在上海"] {
            assert!(is_over(text), "{text}");
        }
        assert!(!is_over("I smoke"));
    }
}
