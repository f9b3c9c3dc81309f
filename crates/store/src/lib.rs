//! The memory stores: implementations of `memory::MemoryStore`. All pass one conformance suite, so
//! that they behave alike for callers.
//!
//! Stores must not depend on Envoy, on wire formats, or on the purpose of a search; ranking belongs
//! to recall.

mod availability;
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
mod sqlite;
mod top_k;
pub mod transfer;
mod validate;

pub use availability::MonitoredStore;
pub use inmemory::InMemoryStore;
pub use milvus::{MilvusRefusal, MilvusSettings, MilvusStore, MilvusTls};
pub use postgres::{PostgresRefusal, PostgresSettings, PostgresStore, PostgresTls};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use validate::{MAX_CONTENT_BYTES, MAX_LIMIT, MAX_PARTS, MAX_SCAN_BYTES};
