//! Why a model server did not answer.

use std::time::Duration;

/// Why a model server did not answer. Never contains requests or responses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// Not sent, because the circuit breaker is open.
    #[error("not sent: the last requests failed; next attempt in {} s", wait.as_secs())]
    CoolingDown {
        /// Remaining cooldown.
        wait: Duration,
    },
    /// No response within the deadline.
    #[error("no response within {} ms", after.as_millis())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// The server cannot be reached, or closed the connection.
    #[error("unreachable: {0}")]
    Unreachable(&'static str),
    /// The server responded with an error status.
    #[error("status {code}")]
    Status {
        /// The HTTP status.
        code: u16,
        /// Value of `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The response is larger than the limit.
    #[error("the response is larger than {most_bytes} bytes")]
    TooLarge {
        /// The limit.
        most_bytes: usize,
    },
}

impl RemoteError {
    /// The HTTP status, if the server responded with an error.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The cooldown that the server requests.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether the server is overloaded or failing; further requests would make it worse.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::Unreachable(_) => true,
            Self::Status { code, .. } => *code == 429 || *code >= 500,
            Self::CoolingDown { .. } | Self::TooLarge { .. } => false,
        }
    }
}
