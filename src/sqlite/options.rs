//! How a database is run.

use rusqlite::Connection;

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// Survives the end of the process, however it ends; a power loss may cost
    /// the last commits, never the consistency of the file.
    #[default]
    Normal,
    /// Survives a power loss too; every group of commits waits for the disk.
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

/// How a database is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// Reading threads, at least 1.
    pub readers: usize,
    /// Jobs that may wait: this many reads and this many writes.
    pub queue: usize,
    /// Run on every connection when it is opened, to register SQL functions.
    pub prepare: fn(&Connection) -> rusqlite::Result<()>,
}

impl Default for Options {
    /// Two readers, one a core of the smallest machine that is planned for; a
    /// thousand waiting jobs, a fifth of a second's work of the writer.
    fn default() -> Self {
        Self { synchronous: Synchronous::Normal, readers: 2, queue: 1024, prepare: |_| Ok(()) }
    }
}
