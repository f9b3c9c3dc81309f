//! A text that is folded character by character and knows where its characters come from.

use std::ops::Range;

/// A folded text.
pub(crate) struct Folded {
    pub(crate) text: String,
    /// For each byte of the text, and for its end, the place in the text that was folded.
    origins: Vec<usize>,
}

impl Folded {
    /// Folds each character. `fold` also gets the place of the character.
    pub(crate) fn by<C: IntoIterator<Item = char>>(
        text: &str,
        mut fold: impl FnMut(usize, char) -> C,
    ) -> Self {
        let (mut folded, mut origins) = (String::with_capacity(text.len()), Vec::new());
        for (at, c) in text.char_indices() {
            folded.extend(fold(at, c));
            origins.resize(folded.len(), at);
        }
        origins.push(text.len());
        Self { text: folded, origins }
    }

    /// Where a part of the folded text stands in the text that was folded.
    pub(crate) fn origin(&self, part: Range<usize>) -> Range<usize> {
        let of = |at: usize| self.origins.get(at).or(self.origins.last()).copied().unwrap_or(0);
        of(part.start)..of(part.end)
    }
}
