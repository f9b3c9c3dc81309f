//! A memory with all that a store keeps of it, as it goes from one store to another.

use crate::memory::{Embedding, Memory};

/// A memory, what it was before, and its vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// Its current version.
    pub memory: Memory,
    /// The earlier versions, oldest first.
    pub history: Vec<Memory>,
    /// Its vectors, by space and part.
    pub vectors: Vec<Embedding>,
}

impl Whole {
    /// Whether `stored` lacks nothing of this. It may have vectors that this has not: a memory gets
    /// them anew wherever it is.
    #[must_use]
    pub fn is_kept_by(&self, stored: &Self) -> bool {
        self.memory == stored.memory
            && self.history == stored.history
            && self.vectors.iter().all(|vector| stored.vectors.contains(vector))
    }

    /// Whether it has no vector in a space.
    #[must_use]
    pub fn lacks(&self, space: &str) -> bool {
        !self.vectors.iter().any(|vector| &*vector.space == space)
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let texts = |memory: &Memory| {
            let texts = memory.sides().chain(memory.raw.as_deref());
            size_of::<Memory>() + texts.map(str::len).sum::<usize>()
        };
        let versions: usize = self.history.iter().chain([&self.memory]).map(texts).sum();
        let vectors = self.vectors.iter().map(|vector| size_of_val(&*vector.values));
        versions + vectors.sum::<usize>()
    }
}

/// Some of what a store holds, and where to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// The memories.
    pub found: Vec<Whole>,
    /// The cursor of the next scan; `None` when there is no more.
    pub next: Option<String>,
}

/// The result of restoring a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It was written.
    Written,
    /// The store already has the same memory.
    Same,
    /// The owner has another one of this id. Nothing was changed.
    Differs,
}
