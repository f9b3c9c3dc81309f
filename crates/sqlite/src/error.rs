//! Errors of a database file, as messages for operators.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::ErrorCode;

/// Why a database was not opened, or a job failed. No variant contains stored values. Messages name
/// the file without its folder, because API callers see them too; see [`DatabaseError::folder`].
#[derive(Clone, Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file or its folder cannot be created, opened or read.
    #[error("{}: cannot be opened: {cause}", own_name(file))]
    Unopenable {
        /// The database file.
        file: PathBuf,
        /// The error of the operating system or SQLite.
        cause: String,
    },
    /// The file is not an SQLite database.
    #[error("{}: is not an SQLite database", own_name(file))]
    NotADatabase {
        /// The file.
        file: PathBuf,
    },
    /// The file is damaged.
    #[error("{}: the database is damaged: {cause}", own_name(file))]
    Damaged {
        /// The database file.
        file: PathBuf,
        /// The error of SQLite.
        cause: String,
    },
    /// The file was written by a newer version of memgate.
    #[error(
        "{}: has schema version {found}, but this version of memgate supports versions up to {known}; \
         use the version of memgate that wrote it, or a newer one",
        own_name(file)
    )]
    NewerSchema {
        /// The database file.
        file: PathBuf,
        /// The schema version of the file.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
    /// The file was written by an earlier memgate, before the first release, with other tables.
    #[error(
        "{}: lacks {column}, because a memgate from before the first release wrote it; export its memories with \
         that one, and import them into an empty data folder",
        own_name(file)
    )]
    EarlierSchema {
        /// The database file.
        file: PathBuf,
        /// What it lacks: `table.column`.
        column: String,
    },
    /// The schema could not be migrated; the file is unchanged.
    #[error("{}: migration to schema version {version} ({name}) failed: {cause}", own_name(file))]
    Migration {
        /// The database file.
        file: PathBuf,
        /// The target version of the migration.
        version: i64,
        /// The migration's name.
        name: &'static str,
        /// The error of SQLite.
        cause: String,
    },
    /// The disk is full, or the file has reached its maximum size. The job is undone.
    #[error("{}: no space left to write", own_name(file))]
    Full {
        /// The database file.
        file: PathBuf,
    },
    /// The file cannot be written. The job is undone.
    #[error("{}: is read-only", own_name(file))]
    ReadOnly {
        /// The database file.
        file: PathBuf,
    },
    /// Another program has held a lock for longer than the busy timeout.
    #[error("{}: is locked by another program", own_name(file))]
    Locked {
        /// The database file.
        file: PathBuf,
    },
    /// The queue is full.
    #[error("{}: the queue of {bound} {kind} is full", own_name(file))]
    Busy {
        /// The database file.
        file: PathBuf,
        /// `reads` or `writes`.
        kind: &'static str,
        /// Capacity of the queue.
        bound: usize,
    },
    /// The database is closed.
    #[error("{}: is closed", own_name(file))]
    Closed {
        /// The database file.
        file: PathBuf,
    },
    /// The job panicked; its changes are undone.
    #[error("{}: a job panicked", own_name(file))]
    Panicked {
        /// The database file.
        file: PathBuf,
    },
    /// Any other error of SQLite: a violated constraint, wrong SQL.
    #[error("{}: {cause}", own_name(file))]
    Sql {
        /// The database file.
        file: PathBuf,
        /// The error of SQLite.
        cause: Arc<rusqlite::Error>,
    },
}

/// The file's name without its folder.
fn own_name(file: &Path) -> std::borrow::Cow<'_, str> {
    file.file_name().unwrap_or_default().to_string_lossy()
}

impl DatabaseError {
    /// The folder of the file, for operators.
    #[must_use]
    pub fn folder(&self) -> &Path {
        let (Self::Unopenable { file, .. }
        | Self::NotADatabase { file }
        | Self::Damaged { file, .. }
        | Self::NewerSchema { file, .. }
        | Self::EarlierSchema { file, .. }
        | Self::Migration { file, .. }
        | Self::Full { file }
        | Self::ReadOnly { file }
        | Self::Locked { file }
        | Self::Busy { file, .. }
        | Self::Closed { file }
        | Self::Panicked { file }
        | Self::Sql { file, .. }) = self;
        file.parent().unwrap_or(Path::new(""))
    }

    /// Maps SQLite's error codes to the cases that callers distinguish.
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

    /// Whether a retry may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Locked { .. })
    }

    /// Whether a job violated a constraint of the schema, for example a unique key.
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
