//! The memory stores: implementations of `memory::MemoryStore`. All pass one conformance suite, so
//! that they behave alike for callers.
//!
//! Stores must not depend on Envoy, on wire formats, or on the purpose of a search; ranking belongs
//! to recall.

mod availability;
mod client_tls;
#[cfg(test)]
mod conformance;
mod dense;
mod inmemory;
mod micros;
mod milvus;
mod owner_cache;
mod owner_documents;
mod postgres;
mod scan_cursor;
mod sql;
mod sqlite;
mod top_k;
pub mod transfer;
mod unreadable;
mod validate;

pub use availability::MonitoredStore;
pub use client_tls::ClientTls;
pub use inmemory::InMemoryStore;
pub use milvus::{MilvusRefusal, MilvusSettings, MilvusStore};
pub use postgres::{PostgresRefusal, PostgresSettings, PostgresStore};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use unreadable::UnreadableRows;
pub use validate::{MAX_CONTENT_BYTES, MAX_LIMIT, MAX_SCAN_BYTES};
