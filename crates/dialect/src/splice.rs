//! A byte range of a body and its replacement.

use std::ops::Range;

/// A range of the body and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) with: String,
}

impl Splice {
    pub(super) fn insert(at: usize, with: String) -> Self {
        Self { range: at..at, with }
    }

    pub(super) fn remove(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }
}
