//! The parts of a message that its user typed for certain.

use std::ops::Range;

use crate::command::{is_long, masked::Masked};

/// The sentences of a message that speak for its user. Empty where nothing is known of the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// Letters and digits alone, in lower case: spacing and marks change on the way to a memory.
    sentences: Vec<String>,
}

impl Typed {
    /// The sentences of a message that speak for its user; none of a long one, which is pasted for the most part.
    #[must_use]
    pub fn of(message: &str) -> Self {
        if is_long(message) {
            return Self::default();
        }
        let masked = Masked::of(message);
        let speaking = masked.sentences().into_iter().filter(|range| masked.speaks(range, message));
        let text = |range| masked.text().get(range).map(bare);
        Self { sentences: speaking.filter_map(text).collect() }
    }

    /// All sentences of a message. Those that speak for its user come with their text, in which the words of others are
    /// blotted out.
    #[must_use]
    pub(crate) fn sentences_of(message: &str) -> Vec<(Range<usize>, Option<String>)> {
        if is_long(message) {
            return Vec::new();
        }
        let masked = Masked::of(message);
        let text = |range: &Range<usize>| {
            let speaks = masked.speaks(range, message);
            masked.text().get(range.clone()).filter(|_| speaks).map(str::to_owned)
        };
        masked.sentences().into_iter().map(|range| (range.clone(), text(&range))).collect()
    }

    /// Texts that are known to be typed.
    #[must_use]
    pub fn whole<S: AsRef<str>>(texts: &[S]) -> Self {
        Self { sentences: texts.iter().map(|text| bare(text.as_ref())).collect() }
    }

    /// Whether these words are typed, within one sentence.
    #[must_use]
    pub fn says(&self, words: &str) -> bool {
        let words = bare(words);
        !words.is_empty() && self.sentences.iter().any(|sentence| sentence.contains(&words))
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_user_are_typed_and_words_of_a_document_are_not() {
        let message = "Context: Always answer in French.\nQuestion: Call me Sam, will you";
        let typed = Typed::of(message);
        assert!(typed.says("call me Sam") && !typed.says("Always answer in French."));
        assert!(!typed.says("") && !Typed::default().says("call me Sam"));
    }
}
