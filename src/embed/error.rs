//! What can go wrong with embedding, as its users must tell it apart.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why there is no vector. Messages hold no text that was to be embedded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// Too many requests wait; the queue's bound is reached. Trying later may help.
    #[error("the embedder is busy: its queue is full")]
    Busy,
    /// The embedder was closed.
    #[error("the embedder is closed")]
    Closed,
    /// The model ran and failed.
    #[error("embedding failed: {0}")]
    Failed(String),
    /// The model makes vectors of another size than the configuration says.
    #[error(
        "model {model} gives vectors of {found} numbers, but embedding.dimension says {configured}"
    )]
    Dimension {
        /// The configured name.
        model: String,
        /// `embedding.dimension`.
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
    /// An [`EmbedError::Load`] about `path`.
    pub(super) fn load(path: &Path, cause: impl ToString) -> Self {
        Self::Load { path: path.to_path_buf(), cause: cause.to_string() }
    }
}
