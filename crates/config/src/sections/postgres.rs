//! The `memory.postgres:` section: the connection to PostgreSQL and the tables created there.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client_tls::ClientTlsConfig;

/// The PostgreSQL server, with the extension pgvector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresConfig {
    /// Host name, IP address, or the folder of a Unix socket.
    #[schemars(length(min = 1))]
    pub host: String,
    /// Port.
    #[schemars(range(min = 1))]
    pub port: u16,
    /// Role. It must not be a superuser: row-level security does not bind those.
    #[schemars(regex(pattern = "^.{1,63}$"))]
    pub user: String,
    /// Environment variable that holds the role's password, if the server requires one.
    pub password_env: Option<String>,
    /// Database. Its encoding must be UTF8.
    #[schemars(regex(pattern = "^.{1,63}$"))]
    pub database: String,
    /// Schema of the tables; created if it does not exist.
    #[schemars(regex(pattern = "^.{1,63}$"))]
    pub schema: String,
    /// TLS settings of the connection. Default: plaintext.
    pub tls: Option<ClientTlsConfig>,
    /// Number of hash partitions of each new table; users are distributed over them.
    #[schemars(range(min = 1, max = 256))]
    pub partitions: u16,
    /// Maximum number of connections of one memgate.
    #[schemars(range(min = 1, max = 256))]
    pub connections: usize,
    /// Timeout for connecting, and for waiting for a free connection, in milliseconds.
    #[schemars(range(min = 100, max = 60000))]
    pub connect_timeout_ms: u64,
    /// Timeout of one statement, in milliseconds. A search also ends with `memory.deadline_ms`: its
    /// statement is cancelled in the server.
    #[schemars(range(min = 100, max = 60000))]
    pub timeout_ms: u64,
    /// Maximum memory for the words of recently searched users, in MiB.
    #[schemars(range(min = 1, max = 65536))]
    pub cache_mib: usize,
}

impl PostgresConfig {
    /// Maximum dimension of a vector that pgvector stores.
    pub const MAX_DIMENSION: usize = 16_000;

    /// Timeout for connecting.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms)
    }

    /// Timeout of one statement.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

impl Default for PostgresConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".into(),
            port: 5432,
            user: "memgate".into(),
            password_env: None,
            database: "memgate".into(),
            schema: "memgate".into(),
            tls: None,
            partitions: 16,
            connections: 8,
            connect_timeout_ms: 3000,
            timeout_ms: 5000,
            cache_mib: 64,
        }
    }
}
