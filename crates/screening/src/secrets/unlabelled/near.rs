//! Whether words that speak of something stand near a value.

use std::ops::Range;

use memgate_text::rules::pattern::Pattern;

/// How far a cue may be from its value, in bytes.
pub(super) const NEAR: usize = 90;

pub(super) fn is_near(cue: &Pattern, text: &str, span: &Range<usize>) -> bool {
    let (before, after) = around(text, span, NEAR);
    cue.is_match(before) || cue.is_match(after)
}

/// The text before and after a value, up to `bytes` each.
pub(super) fn around<'a>(text: &'a str, span: &Range<usize>, bytes: usize) -> (&'a str, &'a str) {
    let start = text.floor_char_boundary(span.start.saturating_sub(bytes));
    let end = text.ceil_char_boundary((span.end + bytes).min(text.len()));
    (&text[start..span.start], &text[span.end..end])
}
