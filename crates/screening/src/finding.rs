//! Where a text holds a secret or personal data.

use std::{collections::HashMap, ops::Range};

use memgate_text::rules::pattern::Pattern;

use crate::policy::Class;

/// A value in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Its bytes.
    pub(crate) span: Range<usize>,
    /// The bytes of the value with the label that gave it away: "locker code is 4471".
    pub(crate) labelled: Range<usize>,
    pub(crate) class: Class,
}

impl Finding {
    /// A value without a label.
    pub(crate) fn bare(span: Range<usize>, class: Class) -> Self {
        Self { labelled: span.clone(), span, class }
    }
}

/// A boundary of a word of ASCII letters, digits and underscores, as numbers and keys are. The `\b` of [`Regex`] is none
/// between such a word and a Chinese, Japanese or Korean character, which people write without a space.
macro_rules! ascii_boundary {
    () => {
        r"(?-u:\b)"
    };
}
pub(crate) use ascii_boundary;

/// Adds the value of each match whose value `counts`.
pub(crate) fn collect(
    pattern: &Pattern,
    class: Class,
    text: &str,
    counts: impl Fn(&str) -> bool,
    found: &mut Vec<Finding>,
) {
    let matches = pattern.values(text).filter(|it| counts(&text[it.value.clone()]));
    found.extend(matches.map(|it| Finding { span: it.value, labelled: it.whole, class }));
}

/// One of this crate's constant patterns.
pub(crate) fn pattern(source: &str) -> Pattern {
    #[cfg(test)]
    crate::tests::COMPILED.lock().unwrap().insert(source.to_owned());
    Pattern::constant(source)
}

/// Shannon entropy, in bits a character.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = HashMap::<char, u32>::new();
    text.chars().for_each(|c| *counts.entry(c).or_default() += 1);
    let total = f64::from(counts.values().sum::<u32>());
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_measured_in_bits_a_character() {
        assert!(entropy("aaaa").abs() < 1e-9);
        assert!((entropy("abcd") - 2.0).abs() < 1e-9);
    }
}
