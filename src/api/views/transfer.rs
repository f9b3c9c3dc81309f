//! Results of imports, and statistics, as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportedView {
    /// Number of new memories.
    pub written: u64,
    /// Number of memories that were already there, unchanged.
    pub same: u64,
    /// Number of memories whose id is already used for another memory of the user, which is kept.
    pub differs: u64,
    /// Number of refused lines.
    pub refused: u64,
    /// Whether the export was complete; false if its last line is missing.
    pub complete: bool,
    /// The lines that differ or were refused, at most a hundred.
    pub problems: Vec<ProblemView>,
}

/// A problem with a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProblemView {
    /// Line number, starting at 1.
    pub line: u64,
    /// The member that is wrong, if it is known.
    pub field: Option<String>,
    /// The cause.
    pub cause: String,
}

/// Statistics of a user's memories in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StatsView {
    /// Number of memories.
    pub total: u64,
    /// Number of memories with a vector in the current space; the others are found by words alone.
    pub embedded: u64,
    /// Number of memories with the status `review`.
    pub review: u64,
    /// Number of memories by type.
    pub by_type: BTreeMap<String, u64>,
    /// Number of memories by status, those that are not in use included.
    pub by_status: BTreeMap<String, u64>,
    /// The embedding model.
    pub model: String,
    /// Dimension of its vectors.
    pub dimension: usize,
    /// The embedding space: model, dimension, pooling, precision and prefixes.
    pub space: String,
}
