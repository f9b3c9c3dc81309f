//! The `memory.trail` section: what can be looked up of the latest requests and turns.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The trail: what was decided, found, cut and presented for each of the latest requests, and what was learned from each of
/// the latest turns. It is kept in memory, and where configured on the disk, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrailConfig {
    /// Number of requests, and of turns, that the trail keeps; about 10 KB each, and at most 16 MiB of each. 0 switches
    /// it off.
    #[schemars(range(min = 0, max = 1000000))]
    pub requests: usize,
    /// Whether the trail keeps the words of queries and shows the content of memories. Ids and scores are always
    /// in it. Forgotten content is removed from it, too.
    pub content: bool,
    /// Number of requests, and of turns, of each user that are also kept on the disk, in `trail.db` of the data folder, so that
    /// they outlive a restart. 0 keeps none there. They go with their user, and after `retention_days`.
    #[schemars(range(min = 0, max = 100000))]
    pub stored_per_user: usize,
    /// Days after which what is kept on the disk expires.
    #[schemars(range(min = 1, max = 36500))]
    pub retention_days: u32,
}

impl TrailConfig {
    /// The most bytes that the trail of requests takes, and that of turns.
    pub const MAX_BYTES: usize = 16 << 20;

    /// Whether the trail is kept on the disk, too.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        self.requests > 0 && self.stored_per_user > 0
    }

    /// The age at which a record on the disk expires.
    #[must_use]
    pub fn retention(&self) -> Duration {
        Duration::from_secs(24 * 3600 * u64::from(self.retention_days))
    }
}

impl Default for TrailConfig {
    fn default() -> Self {
        Self { requests: 1_000, content: false, stored_per_user: 0, retention_days: 30 }
    }
}
