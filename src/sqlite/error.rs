//! What can go wrong with a database file, in words for whoever runs memgate.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::ErrorCode;

/// Why a database was not opened, or did not do its work. No variant carries
/// a stored value.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file or its folder cannot be created, opened or read.
    #[error("{}: cannot be opened: {cause}", file.display())]
    Unopenable {
        /// The database file.
        file: PathBuf,
        /// What the operating system or SQLite says.
        cause: String,
    },
    /// The file is something else.
    #[error("{}: is not an SQLite database", file.display())]
    NotADatabase {
        /// The file.
        file: PathBuf,
    },
    /// The file is damaged.
    #[error("{}: the database is damaged: {cause}", file.display())]
    Damaged {
        /// The database file.
        file: PathBuf,
        /// Where SQLite noticed.
        cause: String,
    },
    /// A newer memgate wrote the file.
    #[error(
        "{}: has schema version {found}, but this memgate knows versions up to {known}; \
         start the memgate that wrote it, or a newer one",
        file.display()
    )]
    NewerSchema {
        /// The database file.
        file: PathBuf,
        /// The version in the file.
        found: i64,
        /// The newest version this program can read.
        known: i64,
    },
    /// The schema could not be brought up to date; the file is as it was.
    #[error("{}: migration to schema version {version} ({name}) failed: {cause}", file.display())]
    Migration {
        /// The database file.
        file: PathBuf,
        /// The version that was to be reached.
        version: i64,
        /// The migration's name.
        name: &'static str,
        /// What SQLite says.
        cause: String,
    },
    /// The disk, or the file's allowed size, is full. Nothing of the job is stored.
    #[error("{}: no space left to write", file.display())]
    Full {
        /// The database file.
        file: PathBuf,
    },
    /// The file cannot be written. Nothing of the job is stored.
    #[error("{}: is read-only", file.display())]
    ReadOnly {
        /// The database file.
        file: PathBuf,
    },
    /// Another program has locked the file for longer than the busy timeout.
    #[error("{}: is locked by another program", file.display())]
    Locked {
        /// The database file.
        file: PathBuf,
    },
    /// As many jobs as the queue takes are waiting already.
    #[error("{}: {bound} {kind} are waiting already", file.display())]
    Busy {
        /// The database file.
        file: PathBuf,
        /// `reads` or `writes`.
        kind: &'static str,
        /// The queue's bound.
        bound: usize,
    },
    /// The database is closed.
    #[error("{}: is closed", file.display())]
    Closed {
        /// The database file.
        file: PathBuf,
    },
    /// The job panicked; what it wrote is undone.
    #[error("{}: a job panicked", file.display())]
    Panicked {
        /// The database file.
        file: PathBuf,
    },
    /// Anything else SQLite refuses: a violated constraint, wrong SQL.
    #[error("{}: {cause}", file.display())]
    Sql {
        /// The database file.
        file: PathBuf,
        /// What SQLite says.
        cause: Arc<rusqlite::Error>,
    },
}

impl DatabaseError {
    /// Sorts SQLite's codes into the cases that callers tell apart.
    pub(super) fn from_sqlite(file: &Path, error: rusqlite::Error) -> Self {
        let code = error.sqlite_error_code();
        let file = file.to_owned();
        match code {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { file },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { file, cause: error.to_string() },
            Some(ErrorCode::DiskFull) => Self::Full { file },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { file },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { file },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Unopenable { file, cause: error.to_string() }
            }
            _ => Self::Sql { file, cause: Arc::new(error) },
        }
    }

    /// Whether asking again later may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Locked { .. })
    }

    /// Whether a job violated a constraint of the schema, a unique key for example.
    #[must_use]
    pub fn is_constraint(&self) -> bool {
        match self {
            Self::Sql { cause, .. } => {
                cause.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
            }
            _ => false,
        }
    }
}
