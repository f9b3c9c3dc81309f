//! Where a text holds a secret or personal data.

use std::{collections::HashMap, ops::Range};

use regex::Regex;

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

/// Adds the first group that matched, of each match whose value `counts`.
pub(crate) fn collect(
    pattern: &Regex,
    class: Class,
    text: &str,
    counts: impl Fn(&str) -> bool,
    found: &mut Vec<Finding>,
) {
    found.extend(
        pattern
            .captures_iter(text)
            .filter_map(|captures| {
                let whole = captures.get(0)?;
                Some((captures.iter().skip(1).flatten().next().unwrap_or(whole), whole.range()))
            })
            .filter(|(value, _)| counts(value.as_str()))
            .map(|(value, labelled)| Finding { span: value.range(), labelled, class }),
    );
}

/// One of this crate's constant patterns.
#[expect(
    clippy::expect_used,
    reason = "constant; every test compiles them all, and to screen without one would be worse"
)]
pub(crate) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a screening pattern does not compile")
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
