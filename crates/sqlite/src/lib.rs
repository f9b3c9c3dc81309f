//! The foundation of memgate's SQLite files (memories and journal): a writing thread with group
//! commit, reading threads, migrations, and the lock of the data folder.
//!
//! It must not depend on the content of the tables.

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
