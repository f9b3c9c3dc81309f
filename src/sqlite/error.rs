//! What can go wrong with a database file, in words for whoever runs memgate.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::ErrorCode;

/// Why a database was not opened, or did not do its work. No variant carries a stored value. The text
/// names the file without its folder, because callers of the API see it, too; see
/// [`DatabaseError::folder`].
#[derive(Clone, Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file or its folder cannot be created, opened or read.
    #[error("{}: cannot be opened: {cause}", own_name(file))]
    Unopenable {
        /// The database file.
        file: PathBuf,
        /// What the operating system or SQLite says.
        cause: String,
    },
    /// The file is something else.
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
        /// Where SQLite noticed.
        cause: String,
    },
    /// A newer memgate wrote the file.
    #[error(
        "{}: has schema version {found}, but this memgate knows versions up to {known}; \
         start the memgate that wrote it, or a newer one",
        own_name(file)
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
    #[error("{}: migration to schema version {version} ({name}) failed: {cause}", own_name(file))]
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
    #[error("{}: no space left to write", own_name(file))]
    Full {
        /// The database file.
        file: PathBuf,
    },
    /// The file cannot be written. Nothing of the job is stored.
    #[error("{}: is read-only", own_name(file))]
    ReadOnly {
        /// The database file.
        file: PathBuf,
    },
    /// Another program has locked the file for longer than the busy timeout.
    #[error("{}: is locked by another program", own_name(file))]
    Locked {
        /// The database file.
        file: PathBuf,
    },
    /// As many jobs as the queue takes are waiting already.
    #[error("{}: {bound} {kind} are waiting already", own_name(file))]
    Busy {
        /// The database file.
        file: PathBuf,
        /// `reads` or `writes`.
        kind: &'static str,
        /// The queue's bound.
        bound: usize,
    },
    /// The database is closed.
    #[error("{}: is closed", own_name(file))]
    Closed {
        /// The database file.
        file: PathBuf,
    },
    /// The job panicked; what it wrote is undone.
    #[error("{}: a job panicked", own_name(file))]
    Panicked {
        /// The database file.
        file: PathBuf,
    },
    /// Anything else SQLite refuses: a violated constraint, wrong SQL.
    #[error("{}: {cause}", own_name(file))]
    Sql {
        /// The database file.
        file: PathBuf,
        /// What SQLite says.
        cause: Arc<rusqlite::Error>,
    },
}

/// The file's own name.
fn own_name(file: &Path) -> std::borrow::Cow<'_, str> {
    file.file_name().unwrap_or_default().to_string_lossy()
}

impl DatabaseError {
    /// The folder of the file, for those who run memgate.
    #[must_use]
    pub fn folder(&self) -> &Path {
        let (Self::Unopenable { file, .. }
        | Self::NotADatabase { file }
        | Self::Damaged { file, .. }
        | Self::NewerSchema { file, .. }
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
