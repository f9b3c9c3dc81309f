//! A text as sentences and words, and which sentences only ask.

mod asking;
mod boundaries;
mod joining;
mod passages;

use unicode_segmentation::UnicodeSegmentation;

pub use asking::only_asks;
pub(crate) use asking::tells;
pub(crate) use boundaries::{closing_mark, ranges, trimmed};
pub use joining::joined;
pub use passages::passages;

/// The sentences of a text, trimmed, with the marks that end them.
pub fn sentences(text: &str) -> Vec<&str> {
    ranges(text).into_iter().map(|range| &text[range]).collect()
}

/// Lower-case words without apostrophes.
pub fn words(text: &str) -> Vec<String> {
    text.unicode_words()
        .map(|word| word.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '’')).collect())
        .collect()
}
