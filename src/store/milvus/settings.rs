//! What the store must know of its server.

use std::{path::PathBuf, time::Duration};

/// How the store reaches Milvus and what it makes there.
#[derive(Clone)]
pub struct MilvusSettings {
    /// `host:port`.
    pub address: String,
    /// Encrypts the connection.
    pub tls: Option<MilvusTls>,
    /// Who we are, where the server asks; `user:password` is a token, too.
    pub token: Option<String>,
    /// The database; empty is the server's default one.
    pub database: String,
    /// The collection of the records; the names of the others begin with it.
    pub collection: String,
    /// The embedding space whose vectors are searched.
    pub space: String,
    /// That space's dimension.
    pub dimension: usize,
    /// Whether the space may be another than the one in use: it is filled beside that.
    pub reindexing: bool,
    /// Partitions of a collection when it is made; owners are spread over them.
    pub partitions: u16,
    /// Neighbours of a vector in the HNSW graph when it is made.
    pub hnsw_m: u32,
    /// Candidates looked at while the HNSW graph is built.
    pub ef_construction: u32,
    /// The longest the first connection may take.
    pub connect_timeout: Duration,
    /// The longest one call may take.
    pub timeout: Duration,
    /// How often a read is tried in all. Writes are tried once: whoever can wait tries again.
    pub attempts: u32,
    /// After so long everybody's reads see a write: `common.gracefulTime` of the server, 5 s by default.
    pub staleness: Duration,
}

/// How the connection is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilvusTls {
    /// The authority that signed the server's certificate, where it is not a public one.
    pub ca: Option<PathBuf>,
    /// Our certificate and its key, where the server asks for one.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name in the server's certificate, where it is not the address.
    pub server_name: Option<String>,
}
