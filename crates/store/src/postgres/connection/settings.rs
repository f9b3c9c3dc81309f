//! Settings of the PostgreSQL store.

use std::time::Duration;

use crate::{UnreadableRows, client_tls::ClientTls};

/// Connection to PostgreSQL, and parameters of new tables.
#[derive(Clone)]
pub struct PostgresSettings {
    /// Host name, IP address, or the folder of a Unix socket.
    pub host: String,
    /// Port.
    pub port: u16,
    /// TLS settings; `None` for plaintext.
    pub tls: Option<ClientTls>,
    /// Role. It must not be a superuser: row-level security does not bind those.
    pub user: String,
    /// Its password, if the server requires one.
    pub password: Option<String>,
    /// Database.
    pub database: String,
    /// Schema of the tables, created if it is missing.
    pub schema: String,
    /// Number of hash partitions of each new table; owners are distributed over them.
    pub partitions: u16,
    /// Maximum number of connections.
    pub connections: usize,
    /// Timeout for connecting, and for waiting for a free connection.
    pub connect_timeout: Duration,
    /// Timeout of one statement.
    pub timeout: Duration,
    /// Maximum size of the cache of owner indexes, in bytes.
    pub cache_bytes: usize,
    /// Counts the rows that cannot be read.
    pub unreadable: UnreadableRows,
}
