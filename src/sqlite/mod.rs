//! The plumbing under both of memgate's SQLite files (memories and journal):
//! one writing thread that commits in groups, a few reading threads, schema
//! versions, and the lock of the data folder.
//!
//! It must never know what the tables hold.

mod connection;
mod database;
mod error;
mod folder;
mod job;
mod migrate;
mod options;
mod queue;
mod scrub;
mod writer;

pub use database::Database;
pub use error::DatabaseError;
pub use folder::{DataFolder, FolderError, Holder};
pub use migrate::Migration;
pub use options::{Options, Synchronous};
