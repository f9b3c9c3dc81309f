//! What can go wrong with embedding, as its users must tell it apart.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why there is no vector. Messages hold no text that was to be embedded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// Too many requests wait; the queue's bound is reached. Trying later may help.
    #[error("the embedder is busy: its queue is full")]
    Busy,
    /// Nobody waits any longer.
    #[error("too late")]
    Late,
    /// The embedder was closed.
    #[error("the embedder is closed")]
    Closed,
    /// The model's server is down, in trouble, asks to be left alone or does not take the key. No
    /// text is to blame, and it may pass.
    #[error("the embedding server gives no vectors now: {0}")]
    Unavailable(String),
    /// The model's server does not take what it is sent; a text may be to blame.
    #[error("the embedding server refuses what it is sent: {0}")]
    Refused(String),
    /// The model ran and failed, or gave what is no vector.
    #[error("embedding failed: {0}")]
    Failed(String),
    /// The model makes vectors of another size than the configuration says.
    #[error(
        "model {model} gives vectors of {found} numbers, but its configured dimension is {configured}"
    )]
    Dimension {
        /// The configured name.
        model: String,
        /// The dimension of its space.
        configured: usize,
        /// What the model gives.
        found: usize,
    },
    /// A file of the model, or ONNX Runtime's library, cannot be used.
    #[error("{}: {cause}", path.display())]
    Load {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
}

impl EmbedError {
    /// Whether a text may be to blame, so that others may have vectors all the same.
    #[must_use]
    pub fn may_be_the_text(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Failed(_))
    }

    /// The same, and the words say of which model: of several, one may be in trouble.
    pub(super) fn of_model(self, model: &str) -> Self {
        let named = |cause| format!("{model}: {cause}");
        match self {
            Self::Unavailable(cause) => Self::Unavailable(named(cause)),
            Self::Refused(cause) => Self::Refused(named(cause)),
            Self::Failed(cause) => Self::Failed(named(cause)),
            other => other,
        }
    }

    /// An [`EmbedError::Load`] about `path`.
    pub(super) fn load(path: &Path, cause: impl ToString) -> Self {
        Self::Load { path: path.to_path_buf(), cause: cause.to_string() }
    }
}
