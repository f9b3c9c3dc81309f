//! Ids of memories: opaque to everyone, unique within an owner.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The id of a memory: `mem_` and a time-ordered UUID, or a name derived from
/// what the memory was made of, so that making it twice gives the same id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryId(String);

impl MemoryId {
    /// A fresh id; ids made later sort later.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "its time only orders ids; nothing reads it")]
    pub fn fresh() -> Self {
        Self(format!("mem_{}", uuid::Uuid::now_v7().simple()))
    }

    /// The id of the memory that `parts` always lead to. A job that runs twice
    /// thereby writes one memory, not two.
    #[must_use]
    pub fn derived(parts: &[&str]) -> Self {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let mut id = String::from("mem_");
        for byte in &digest[..16] {
            use fmt::Write;
            // Writing to a String cannot fail.
            let _ = write!(id, "{byte:02x}");
        }
        Self(id)
    }

    /// An id as it came from outside; whether it exists is the store's answer.
    #[must_use]
    pub fn from_outside(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_depend_on_where_the_parts_end() {
        assert_eq!(MemoryId::derived(&["a", "b"]), MemoryId::derived(&["a", "b"]));
        assert_ne!(MemoryId::derived(&["ab", ""]), MemoryId::derived(&["a", "b"]));
    }
}
