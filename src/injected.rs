//! A fault for tests: a text that panics where it is read, as a bug in a pattern would.

/// The part of a text that panics.
pub(crate) const PANICS: &str = "[panics in a test]";

/// Panics at a text with this part.
pub(crate) fn panic_at(text: &str) {
    assert!(!text.contains(PANICS), "of a test");
}
