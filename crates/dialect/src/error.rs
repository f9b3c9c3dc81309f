//! Why a body gives no request.

use crate::options::InvalidField;

/// Why a body gives no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not a JSON object, or its messages cannot be read: it passes as it is. The reason holds
    /// nothing of the body.
    #[error("{0}")]
    Unreadable(&'static str),
    /// One of our own fields is wrong: the client gets 400.
    #[error(transparent)]
    Invalid(#[from] InvalidField),
}
