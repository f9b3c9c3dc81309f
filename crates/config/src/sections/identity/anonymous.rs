//! The `memory.anonymous_sessions:` section: the memory of sessions without a user.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory of sessions without a user. It ends with the session and is never anybody's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnonymousSessionsConfig {
    /// Whether a request without a user has the memory of its session (`x-session-id`). Whoever sends the id of such a
    /// session gets what was said in it, so an id that a client chooses must have the form of 128 random bits. A reload
    /// can only switch it off.
    pub enabled: bool,
    /// A header that Envoy sets to the id of the session. Then the client's own does not count for requests without a
    /// user, and Envoy must remove this header from client requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub header: Option<String>,
    /// Seconds after its last turn for which the memory of a session is kept.
    #[schemars(range(min = 1, max = 2592000))]
    pub ttl_seconds: u64,
    /// Maximum number of memories of a session; the oldest are removed.
    #[schemars(range(min = 1, max = 10000))]
    pub max_memories: usize,
    /// Number of sessions that are kept: at a look each minute those beyond it that were quiet the longest are erased. New
    /// ones are not refused.
    #[schemars(range(min = 1, max = 1000000))]
    pub max_sessions: u32,
}

impl AnonymousSessionsConfig {
    /// Time for which the memory of a session is kept after its last turn.
    #[must_use]
    pub fn ttl(&self) -> Duration {
        Duration::from_secs(self.ttl_seconds)
    }
}

impl Default for AnonymousSessionsConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            header: None,
            ttl_seconds: 3600,
            max_memories: 100,
            max_sessions: 10_000,
        }
    }
}
