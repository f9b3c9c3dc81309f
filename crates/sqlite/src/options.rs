//! Settings of a database.

use rusqlite::Connection;

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// Survives the end of the process, however it ends. A power loss may lose the last commits,
    /// but never corrupts the file.
    #[default]
    Normal,
    /// Also survives a power loss; every group of commits waits for the disk.
    Full,
}

impl Synchronous {
    pub(super) fn pragma(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Full => "full",
        }
    }
}

/// Settings of a database.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// Number of reading threads, at least 1.
    pub readers: usize,
    /// Maximum number of waiting jobs, separately for reads and writes.
    pub queue: usize,
    /// Called for every new connection, to register SQL functions.
    pub prepare: fn(&Connection) -> rusqlite::Result<()>,
}

impl Default for Options {
    /// Two readers, one per core of the smallest supported machine; a thousand waiting jobs, about
    /// 0.2 s of work for the writer.
    fn default() -> Self {
        Self { synchronous: Synchronous::Normal, readers: 2, queue: 1024, prepare: |_| Ok(()) }
    }
}
