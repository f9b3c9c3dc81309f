//! Where memories are kept: the implementations of `memory::MemoryStore`. All
//! pass one conformance suite, so that nothing else can tell them apart.
//!
//! It must never know Envoy, a wire format of a model server, or why a memory
//! is searched for; ranking is recall's.

mod accept;
mod best;
#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
mod conformance;
mod dense;
mod inmemory;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
pub(crate) mod kit;
pub mod lexical;
mod milvus;
mod place;
mod sqlite;
mod watched;

pub use accept::{MAX_CONTENT_BYTES, MAX_LIMIT, MAX_PARTS, MAX_SCAN_BYTES};
pub use inmemory::InMemoryStore;
pub use milvus::{MilvusRefusal, MilvusSettings, MilvusStore, MilvusTls};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use watched::Watched;
