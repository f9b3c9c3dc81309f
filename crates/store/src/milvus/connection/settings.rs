//! Settings of the Milvus store.

use std::time::Duration;

use crate::{UnreadableRows, client_tls::ClientTls};
use memgate_core::clock::Clock;

/// Connection to Milvus, and parameters of new collections.
#[derive(Clone)]
pub struct MilvusSettings {
    /// `host:port`.
    pub address: String,
    /// TLS settings; `None` for plaintext.
    pub tls: Option<ClientTls>,
    /// Token, if the server requires one; may be `user:password`.
    pub token: Option<String>,
    /// Database; empty for the server's default.
    pub database: String,
    /// Record collection; also the prefix of the other collections' names.
    pub collection: String,
    /// The embedding space that is searched.
    pub space: String,
    /// Its dimension.
    pub dimension: usize,
    /// Whether the space may differ from the one in use, to be filled beside it.
    pub reindexing: bool,
    /// Number of partitions of a new collection; owners are distributed over them.
    pub partitions: u16,
    /// HNSW parameter M of a new collection.
    pub hnsw_m: u32,
    /// HNSW parameter efConstruction of a new collection.
    pub ef_construction: u32,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// Timeout of one call.
    pub timeout: Duration,
    /// Maximum number of attempts of a read. Writes are attempted once; callers that can wait
    /// retry.
    pub attempts: u32,
    /// Time after which all reads see a write: the server's `common.gracefulTime`, 5 s by default.
    pub staleness: Duration,
    /// Makes revisions that several processes can compare.
    pub clock: Clock,
    /// Counts the rows that cannot be read.
    pub unreadable: UnreadableRows,
}
