//! Errors of calls to Milvus, as the store needs to distinguish them.
//!
//! The server's messages are not passed on: they may quote an expression, and so a user's id.

use milvus::v2::error::Error;

use memgate_core::memory::StoreError;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// The connection failed or was lost. The request may have arrived.
    #[error("cannot connect to Milvus")]
    Unreachable,
    /// Timeout. The request may have arrived.
    #[error("Milvus did not answer in time")]
    Late,
    /// The server rejects the credentials.
    #[error("Milvus rejects the credentials")]
    Denied,
    /// The collection does not exist.
    #[error("the collection is missing in Milvus")]
    Missing,
    /// The collection is not loaded yet: for about a minute after a restart.
    #[error("Milvus has not loaded the collection")]
    NotLoaded,
    /// Any other error of the server.
    #[error("Milvus answered with error {0}")]
    Server(i32),
    /// An invalid response, or a request that the client refuses to send.
    #[error("Milvus sent an invalid response")]
    Unreadable,
    /// The record of a memory that memgate could not have written.
    #[error("the stored record of a memory cannot be read")]
    UnreadableRecord,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::RetryExhausted { source, .. } => Self::from(*source),
            Error::Grpc(status) => match status.code() as i32 {
                // Cancelled and DeadlineExceeded: the client's own deadline.
                1 | 4 => Self::Late,
                7 | 16 => Self::Denied,
                12 => Self::Server(12),
                _ => Self::Unreachable,
            },
            Error::Timeout(_) | Error::Cancelled(_) => Self::Late,
            Error::Server(error) => match error.code() {
                100 => Self::Missing,
                101 | 103 | 503 => Self::NotLoaded,
                // Servers before 2.3 and Milvus Lite report it like this.
                0 if error.legacy_code() == 4 => Self::Missing,
                code => Self::Server(code),
            },
            _ => Self::Unreadable,
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::UnreadableRecord => Self::Unreadable("record"),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// The collections cannot be used as they are; an operator must decide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MilvusRefusal {
    /// The stored vectors do not match the configured model.
    #[error(
        "the vectors in collection {collection} are from {found} with dimension {found_dimension}, but \
         {configured} with dimension {configured_dimension} is configured: configure that model, or run \
         `memgate reindex` to re-embed all memories"
    )]
    OtherVectors {
        /// The configured collection.
        collection: String,
        /// The space of the stored vectors.
        found: String,
        /// Their dimension.
        found_dimension: usize,
        /// The configured space.
        configured: String,
        /// Its dimension.
        configured_dimension: usize,
    },
    /// A memgate from before the first release made the collection.
    #[error(
        "the collection {0} lacks the field readers, because a memgate from before the first release made it; \
         export its memories with that one, and import them into another collection"
    )]
    Earlier(String),
}
