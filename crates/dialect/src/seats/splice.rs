//! A byte range of a body and its replacement.

use std::ops::Range;

/// A range of the body and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl Splice {
    pub(crate) fn insert(at: usize, with: String) -> Self {
        Self { range: at..at, with }
    }

    pub(crate) fn remove(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }
}
