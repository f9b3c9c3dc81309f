//! Why a helper model gave no answer.

use std::time::Duration;

use super::MAX_ANSWER_BYTES;

/// Why a helper model gave no answer. Holds nothing of what was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
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
    #[error("status {0}")]
    Status(u16),
    /// The answer is longer than [`MAX_ANSWER_BYTES`].
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
    /// The answer is no Chat Completion.
    #[error("unreadable answer: {0}")]
    Unreadable(&'static str),
}

impl LlmError {
    /// Whether the server itself is in trouble; asking it more makes that worse.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::Unreachable(_) => true,
            Self::Status(status) => *status == 429 || *status >= 500,
            Self::Resting { .. } | Self::TooLarge | Self::Unreadable(_) => false,
        }
    }

    /// Whether the server may have refused the form of the answer, and not what was asked.
    pub(super) fn may_refuse_form(&self) -> bool {
        matches!(self, Self::Status(400 | 422))
    }

    /// Whether the request may have been longer than the model takes.
    #[must_use]
    pub fn may_be_too_long(&self) -> bool {
        matches!(self, Self::Status(400 | 413))
    }

    /// Whether the same request would fail the same way for ever.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Status(400..=404 | 413 | 422))
    }
}
