//! The fields that every row in Milvus has.

/// The key of a row.
pub(super) const KEY: &str = "pk";

/// The vector of a row.
pub(super) const VECTOR: &str = "vector";
