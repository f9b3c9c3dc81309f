//! Errors of PostgreSQL, as the store needs to distinguish them.
//!
//! The server's messages are not passed on: they may quote a value, and so a user's id or content.

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::{Error, error::SqlState};

use memgate_core::memory::StoreError;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The connection failed or was lost. The statement may have arrived.
    #[error("cannot connect to PostgreSQL")]
    Unreachable,
    /// Timeout. The statement may have arrived.
    #[error("PostgreSQL did not answer in time")]
    Late,
    /// The server rejects the credentials.
    #[error("PostgreSQL rejects the credentials")]
    Denied,
    /// The server does not know the database.
    #[error("the database does not exist in PostgreSQL")]
    NoDatabase,
    /// The server accepts no more connections.
    #[error("PostgreSQL has no connection left")]
    Full,
    /// The server is starting, stopping or recovering.
    #[error("PostgreSQL is starting or stopping")]
    NotReady,
    /// A standby, or a database that its administrator has set to read-only.
    #[error("PostgreSQL allows only reads")]
    ReadOnly,
    /// A table does not exist.
    #[error("a table is missing in PostgreSQL")]
    Missing,
    /// The role may not do this.
    #[error("the role lacks a privilege in PostgreSQL")]
    Forbidden,
    /// No disk space or memory is left.
    #[error("PostgreSQL has no space left")]
    NoSpace,
    /// Any other error of the server, by its SQLSTATE.
    #[error("PostgreSQL answered with error {0}")]
    Server(String),
    /// A stored value that memgate could not have written; names its column.
    #[error("the stored {0} of a memory cannot be read")]
    Unreadable(&'static str),
    /// The store was closed.
    #[error("is closed")]
    Closed,
    /// A bound was reached.
    #[error("{0}")]
    Busy(&'static str),
    /// Not a failure of the database: what the operation answers.
    #[error(transparent)]
    Answer(#[from] StoreError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error.code() {
            Some(state) => Self::of_state(state),
            // A broken connection, a TLS failure, or an answer of another protocol.
            None => Self::Unreachable,
        }
    }
}

impl Fault {
    fn of_state(state: &SqlState) -> Self {
        match *state {
            SqlState::TOO_MANY_CONNECTIONS | SqlState::CONFIGURATION_LIMIT_EXCEEDED => Self::Full,
            SqlState::CANNOT_CONNECT_NOW
            | SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::DATABASE_DROPPED => Self::NotReady,
            SqlState::QUERY_CANCELED => Self::Busy("a statement took too long"),
            SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE => Self::Busy("others hold a lock"),
            SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            SqlState::INVALID_CATALOG_NAME => Self::NoDatabase,
            SqlState::UNDEFINED_TABLE
            | SqlState::UNDEFINED_COLUMN
            | SqlState::UNDEFINED_OBJECT
            | SqlState::UNDEFINED_FUNCTION
            | SqlState::INVALID_SCHEMA_NAME => Self::Missing,
            SqlState::INSUFFICIENT_PRIVILEGE => Self::Forbidden,
            _ => match state.code().get(..2) {
                Some("08") => Self::Unreachable,
                Some("28") => Self::Denied,
                Some("53") => Self::NoSpace,
                _ => Self::Server(state.code().to_owned()),
            },
        }
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => {
                Self::Busy("all connections to PostgreSQL are in use")
            }
            PoolError::Timeout(_) => Self::Late,
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                error.into()
            }
            PoolError::Closed => Self::Closed,
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => Self::Unreachable,
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Answer(answer) => answer,
            Fault::Busy(cause) => Self::Busy(cause),
            Fault::Unreadable(value) => Self::Unreadable(value),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// The database cannot be used as it is; an operator must decide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostgresRefusal {
    /// A certificate or key cannot be used.
    #[error("{0}")]
    Tls(String),
    /// The database does not store UTF-8.
    #[error("the database must have the encoding UTF8, but it has {0}")]
    Encoding(String),
    /// The role is not allowed to create pgvector's extension, or the server lacks it.
    #[error(
        "the extension vector is missing: install pgvector on the server and run \
         `CREATE EXTENSION vector` in the database as a superuser"
    )]
    NoExtension,
    /// A memgate from before the first release made the tables.
    #[error(
        "the schema lacks the table shared, because a memgate from before the first release made it; export its \
         memories with that one, and import them into an empty schema"
    )]
    Earlier,
    /// A newer memgate has changed the tables.
    #[error("the tables have schema version {found}, but this memgate knows only {known}")]
    Newer {
        /// The version of the tables.
        found: usize,
        /// The newest version that this memgate knows.
        known: usize,
    },
}
