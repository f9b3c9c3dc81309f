//! The `memory.milvus:` section: how the Milvus server is reached and what is made there.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The Milvus server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MilvusConfig {
    /// `host:port`.
    #[schemars(regex(pattern = "^.+:[0-9]+$"))]
    pub address: String,
    /// The collection's name; the names of its vectors' collections begin with it.
    #[schemars(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,199}$"))]
    pub collection: String,
    /// The vectors' length; must equal `memory.embedding.dimension`, and with models beside it the sum of
    /// all their dimensions.
    #[schemars(range(min = 1, max = 32768))]
    pub dimension: usize,
    /// The database in the server; absent: its default one.
    pub database: Option<String>,
    /// The environment variable with the token, where the server asks for one; `user:password` is
    /// one, too.
    pub token_env: Option<String>,
    /// Encrypts the connection.
    pub tls: Option<MilvusTlsConfig>,
    /// Partitions of a collection, when it is made; users are spread over them.
    #[schemars(range(min = 1, max = 1024))]
    pub partitions: u16,
    /// Neighbours of each vector in the HNSW graph, when it is made.
    #[schemars(range(min = 2, max = 2048))]
    pub hnsw_m: u32,
    /// Candidates looked at for each vector when the HNSW graph is built.
    #[schemars(range(min = 8, max = 4096))]
    pub ef_construction: u32,
    /// The longest that connecting may take, in milliseconds.
    #[schemars(range(min = 100, max = 60000))]
    pub connect_timeout_ms: u64,
    /// The longest one call may take, in milliseconds; a search also ends with `memory.deadline_ms`.
    #[schemars(range(min = 100, max = 60000))]
    pub timeout_ms: u64,
    /// How often a read is tried in all.
    #[schemars(range(min = 1, max = 10))]
    pub attempts: u32,
    /// After so many seconds every read shows a write, that of another memgate included: not less than
    /// `common.gracefulTime` of the server.
    #[schemars(range(min = 1, max = 60))]
    pub staleness_seconds: u64,
}

impl MilvusConfig {
    /// The longest that connecting may take.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// The longest one call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// After so long every read shows a write.
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

/// How the connection to Milvus is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MilvusTlsConfig {
    /// The certificate of the authority that signed the server's, in PEM, where it is no public one.
    pub ca: Option<PathBuf>,
    /// Our certificate, in PEM, where the server asks for one.
    pub certificate: Option<PathBuf>,
    /// Its key, in PEM.
    pub key: Option<PathBuf>,
    /// The name in the server's certificate, where it is not the address.
    pub server_name: Option<String>,
}
