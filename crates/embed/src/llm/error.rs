//! Why a call of a helper model failed.

use crate::client::RemoteError;

/// Why a call of a helper model failed. Never contains prompts or answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The server did not answer.
    #[error(transparent)]
    Server(#[from] RemoteError),
    /// The response is not a Chat Completion.
    #[error("unreadable response: {0}")]
    Unreadable(&'static str),
}

impl LlmError {
    fn status(&self) -> Option<u16> {
        match self {
            Self::Server(error) => error.status(),
            Self::Unreadable(_) => None,
        }
    }

    /// Whether the server may have rejected the response format rather than the request.
    pub(super) fn may_refuse_form(&self) -> bool {
        matches!(self.status(), Some(400 | 422))
    }

    /// Whether the request may have exceeded the model's context length.
    #[must_use]
    pub fn may_be_too_long(&self) -> bool {
        matches!(self.status(), Some(400 | 413))
    }

    /// Whether the same request would always fail.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.status(), Some(400..=404 | 413 | 422))
    }
}
