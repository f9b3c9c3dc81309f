//! The `memory.milvus:` section: the connection to Milvus and the collections created there.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client_tls::ClientTlsConfig;

/// The Milvus server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MilvusConfig {
    /// `host:port`.
    #[schemars(regex(pattern = "^.+:[0-9]+$"))]
    pub address: String,
    /// Name of the collection; the names of the vector collections start with it.
    #[schemars(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,199}$"))]
    pub collection: String,
    /// Dimension of the vectors. It must equal `memory.embedding.dimension`, or with additional
    /// models the sum of all their dimensions.
    #[schemars(range(min = 1, max = 32768))]
    pub dimension: usize,
    /// Database on the server. Default: the server's default database.
    pub database: Option<String>,
    /// Environment variable that holds the token, if the server requires one; the form
    /// `user:password` is accepted.
    pub token_env: Option<String>,
    /// TLS settings of the connection. Default: plaintext.
    pub tls: Option<ClientTlsConfig>,
    /// Number of partitions of a new collection; users are distributed over them.
    #[schemars(range(min = 1, max = 1024))]
    pub partitions: u16,
    /// HNSW parameter M of a new collection: neighbours per vector.
    #[schemars(range(min = 2, max = 2048))]
    pub hnsw_m: u32,
    /// HNSW parameter efConstruction of a new collection: candidates considered per vector while
    /// the graph is built.
    #[schemars(range(min = 8, max = 4096))]
    pub ef_construction: u32,
    /// Timeout for connecting, in milliseconds.
    #[schemars(range(min = 100, max = 60000))]
    pub connect_timeout_ms: u64,
    /// Timeout of one call, in milliseconds. A search also ends with `memory.deadline_ms`.
    #[schemars(range(min = 100, max = 60000))]
    pub timeout_ms: u64,
    /// Maximum number of attempts of a read.
    #[schemars(range(min = 1, max = 10))]
    pub attempts: u32,
    /// Seconds after which every read sees a write, including one from another memgate. Must not be
    /// less than the server's `common.gracefulTime`.
    #[schemars(range(min = 1, max = 60))]
    pub staleness_seconds: u64,
}

impl MilvusConfig {
    /// Timeout for connecting.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// Timeout of one call.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// Time after which every read sees a write.
    #[must_use]
    pub fn staleness(&self) -> Duration {
        Duration::from_secs(self.staleness_seconds)
    }
}

impl Default for MilvusConfig {
    fn default() -> Self {
        Self {
            address: "127.0.0.1:19530".into(),
            collection: "agentic_memory".into(),
            dimension: 384,
            database: None,
            token_env: None,
            tls: None,
            partitions: 64,
            hnsw_m: 16,
            ef_construction: 128,
            connect_timeout_ms: 3000,
            timeout_ms: 5000,
            attempts: 2,
            staleness_seconds: 5,
        }
    }
}
