//! Why a helper model gave no answer.

use crate::remote::RemoteError;

/// Why a helper model gave no answer. Holds nothing of what was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The server gave none.
    #[error(transparent)]
    Server(#[from] RemoteError),
    /// The answer is no Chat Completion.
    #[error("unreadable answer: {0}")]
    Unreadable(&'static str),
}

impl LlmError {
    fn status(&self) -> Option<u16> {
        match self {
            Self::Server(error) => error.status(),
            Self::Unreadable(_) => None,
        }
    }

    /// Whether the server may have refused the form of the answer, and not what was asked.
    pub(super) fn may_refuse_form(&self) -> bool {
        matches!(self.status(), Some(400 | 422))
    }

    /// Whether the request may have been longer than the model takes.
    #[must_use]
    pub fn may_be_too_long(&self) -> bool {
        matches!(self.status(), Some(400 | 413))
    }

    /// Whether the same request would fail the same way for ever.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.status(), Some(400..=404 | 413 | 422))
    }
}
