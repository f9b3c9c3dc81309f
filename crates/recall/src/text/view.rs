//! Bounded views of a memory's texts. A memory may hold a megabyte, forty are candidates of a request, and others' may
//! be among them: whatever recall computes on a text, it computes on a view of it.

/// Bytes of a text that are split into sentences or counted: more than of nearly all that people type.
const PART: usize = 2 * 1024;
/// Bytes of a text that are looked through; the rest of a longer one is not shown.
pub(crate) const SHOWABLE: usize = 16 * 1024;

/// The beginning of a text.
pub(crate) fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(PART)]
}

/// The end of a text.
pub(crate) fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(PART))..]
}

/// The part of a text that can be shown.
pub(crate) fn showable(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWABLE)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_whole_characters_and_no_longer_than_their_bound() {
        for unit in ["a", "é", "日", "𝄞", "👩‍👩‍👧 "] {
            for times in [0, 1, 700, 20_000] {
                let text = unit.repeat(times);
                let views = [head(&text), tail(&text), showable(&text)];
                for (view, most) in views.into_iter().zip([PART, PART, SHOWABLE]) {
                    assert!(view.len() <= most && view.len() + 4 > most.min(text.len()), "{unit}");
                }
                assert!(text.starts_with(views[0]) && text.ends_with(views[1]));
            }
        }
    }
}
