//! What can go wrong between the store and its server, as far as the store must tell it apart.
//!
//! A server's own words are not passed on: they may repeat an expression, and so a user's id.

use milvus::v2::error::Error;

use crate::memory::StoreError;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// Nobody listens, or the connection broke. What was sent may have arrived.
    #[error("Milvus cannot be reached")]
    Unreachable,
    /// No answer in time. What was sent may have arrived.
    #[error("Milvus did not answer in time")]
    Late,
    /// The server does not let us in.
    #[error("Milvus refuses the credentials")]
    Denied,
    /// The collection is not there (any more).
    #[error("the collection is missing in Milvus")]
    Missing,
    /// The collection is not in the query nodes' memory (yet): for a minute after a restart.
    #[error("Milvus has not loaded the collection")]
    NotLoaded,
    /// Anything else the server says.
    #[error("Milvus answered with error {0}")]
    Server(i32),
    /// An answer that makes no sense, or a request that the client does not send.
    #[error("Milvus gave an answer that cannot be read")]
    Unreadable,
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
                101 | 503 => Self::NotLoaded,
                // Servers before 2.3 and the light one answer so.
                0 if error.legacy_code() == 4 => Self::Missing,
                code => Self::Server(code),
            },
            _ => Self::Unreadable,
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        Self::Unavailable(fault.to_string())
    }
}

/// What is in Milvus already does not fit to what is configured; a person must say what holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the vectors in collection {collection} are of {found} with {found_dimension} numbers, and \
     {configured} with {configured_dimension} is configured: configure that model, or run \
     `memgate reindex` to embed all memories again"
)]
pub struct MilvusRefusal {
    /// The configured collection.
    pub collection: String,
    /// The space of the vectors in use.
    pub found: String,
    /// Their dimension.
    pub found_dimension: usize,
    /// The configured space.
    pub configured: String,
    /// Its dimension.
    pub configured_dimension: usize,
}
