//! Embedding errors, as callers need to distinguish them.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a text could not be embedded. Messages never contain the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// The queue is full; a retry may help.
    #[error("the embedder is busy: its queue is full")]
    Busy,
    /// The caller's deadline passed.
    #[error("the deadline for embedding passed")]
    Late,
    /// The embedder was closed.
    #[error("the embedder is closed")]
    Closed,
    /// The server is down, failing, rate-limiting or rejects the key. The text is not the cause,
    /// and the failure may be temporary.
    #[error("the embedding server is unavailable: {0}")]
    Unavailable(String),
    /// The server rejects the request; the text may be the cause.
    #[error("the embedding server rejected the request: {0}")]
    Refused(String),
    /// The model failed or returned invalid vectors.
    #[error("embedding failed: {0}")]
    Failed(String),
    /// The model's dimension differs from the configured one.
    #[error(
        "model {model} returns vectors of dimension {found}, but its configured dimension is {configured}"
    )]
    Dimension {
        /// The configured name.
        model: String,
        /// The configured dimension.
        configured: usize,
        /// The model's dimension.
        found: usize,
    },
    /// A model file or the ONNX Runtime library cannot be used.
    #[error("{}: {cause}", path.display())]
    Load {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
}

impl EmbedError {
    /// Whether the text may be the cause, so that other texts may still work.
    #[must_use]
    pub fn may_be_the_text(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Failed(_))
    }

    /// Adds the model's name to the message, for ensembles.
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
