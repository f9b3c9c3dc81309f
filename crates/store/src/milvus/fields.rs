//! Fields of rows in Milvus.

/// The key of a row.
pub(super) const KEY: &str = "pk";

/// The vector of a row.
pub(super) const VECTOR: &str = "vector";

/// Who may read the memory of a record.
pub(super) const READERS: &str = "readers";
