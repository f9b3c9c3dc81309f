//! The result of comparing two statements.

/// How a newer statement stands to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It says the same, perhaps in other words.
    Same,
    /// It says the same, and more.
    More,
    /// It holds in the other's place.
    Replaces,
    /// They have nothing to do with one another, or hold both.
    Beside,
}
