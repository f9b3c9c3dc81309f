//! Why a model server gave no answer.

use std::time::Duration;

/// Why a model server gave no answer. Holds nothing of what was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// Asking is pointless for now: the last requests all failed.
    #[error("not asked: the last requests failed; next try in {} s", wait.as_secs())]
    Resting {
        /// How long it is left alone.
        wait: Duration,
    },
    /// No answer within the deadline.
    #[error("no answer within {} ms", after.as_millis())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// The server cannot be reached, or hung up.
    #[error("unreachable: {0}")]
    Unreachable(&'static str),
    /// The server answered with an error.
    #[error("status {code}")]
    Status {
        /// The HTTP status.
        code: u16,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// The answer is longer than it may be.
    #[error("the answer is longer than {most_bytes} bytes")]
    TooLarge {
        /// How long it may be.
        most_bytes: usize,
    },
}

impl RemoteError {
    /// The HTTP status, where the server answered with an error.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// How long the server asks to be left alone.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the server itself is in trouble; asking it more makes that worse.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::Unreachable(_) => true,
            Self::Status { code, .. } => *code == 429 || *code >= 500,
            Self::Resting { .. } | Self::TooLarge { .. } => false,
        }
    }
}
