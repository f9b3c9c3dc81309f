//! Start-up: the one place where implementations are chosen and the parts are joined, and the
//! order in which they end.
//!
//! It must never look into a request, a memory or a reply. The way up: `embedder` (a model that
//! cannot be loaded refuses the start) → `memory` (the data folder with the journal, and the `store`;
//! while what is in the folder cannot be opened, requests pass without memory and `opener` goes on
//! trying; a store elsewhere may be reached at any time after) → `serve`.

mod embedder;
mod error;
mod listen;
mod memory;
mod offline;
mod opener;
mod reindex;
mod reload;
mod serve;
mod store;

pub use error::StartError;
pub use offline::{Need, Offline};
pub use reindex::{ReindexError, Reindexed, reindex};
pub use serve::serve;
