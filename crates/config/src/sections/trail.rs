//! The `memory.trail` section: what can be looked up of the latest requests and turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The trail: what was decided, found, cut and presented for each of the latest requests, and what was learned from each of
/// the latest turns. It is kept in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrailConfig {
    /// Number of requests, and of turns, that the trail keeps; about 10 KB each, and at most 16 MiB of each. 0 switches
    /// it off.
    #[schemars(range(min = 0, max = 1000000))]
    pub requests: usize,
    /// Whether the trail keeps the words of queries and shows the content of memories. Ids and scores are always
    /// in it. What is forgotten leaves it, too.
    pub content: bool,
}

impl TrailConfig {
    /// The most bytes that the trail of requests takes, and that of turns.
    pub const MAX_BYTES: usize = 16 << 20;
}

impl Default for TrailConfig {
    fn default() -> Self {
        Self { requests: 1_000, content: false }
    }
}
