//! Start-up: the one place where implementations are chosen and connected, and the order of
//! shutdown.
//!
//! It must not look into requests, memories or replies. Order of start-up: `embedder` (a model that
//! cannot be loaded refuses the start) → `memory` (the data folder with the journal, and the
//! `store`; while the folder cannot be opened, requests pass without memory and `open_retry` keeps
//! trying; a remote store may become reachable at any time) → `serve`.

mod embedder;
mod error;
mod listen;
mod memory;
mod offline;
mod open_retry;
mod reindex;
mod reload;
mod serve;
mod store;
mod tls_listener;

pub use error::StartError;
pub use offline::{Need, Offline};
pub use reindex::{ReindexError, Reindexed, reindex};
pub use serve::serve;
