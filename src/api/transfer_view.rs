//! What callers see of an import, and of how much there is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedView {
    /// Memories that were not there.
    pub written: u64,
    /// Memories that were there, and just so.
    pub same: u64,
    /// Memories whose user has another one of the same id; that one stays.
    pub differs: u64,
    /// Lines that could not be taken.
    pub refused: u64,
    /// Whether the export was whole; false when it ends before its last line.
    pub complete: bool,
    /// The lines that differ or were refused, the first hundred of them.
    pub problems: Vec<ProblemView>,
}

/// What is the matter with a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemView {
    /// Its number, from 1.
    pub line: u64,
    /// Which member is meant, where one is.
    pub field: Option<String>,
    /// What is wrong with it.
    pub cause: String,
}

/// How many memories of a user are in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsView {
    /// All of them.
    pub total: u64,
    /// Of these, with a vector in the space that is searched; the others are found by their words.
    pub embedded: u64,
    /// Of these, for somebody to look at.
    pub review: u64,
    /// All of them by type.
    pub by_type: BTreeMap<String, u64>,
    /// The embedding model.
    pub model: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// The space of the vectors: model, dimension, pooling, precision and prefixes.
    pub space: String,
}
