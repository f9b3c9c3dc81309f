//! Why memgate cannot start, as messages for its operator.

use std::io;

use memgate_embed::EmbedError;
use memgate_models::ModelsError;
use memgate_sqlite::{DatabaseError, FolderError};

/// Why memgate cannot start. Each message is complete, so no variant has a source: printing the
/// chain of causes would repeat it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedding model or its runtime cannot be used.
    #[error("{key}: {cause}")]
    Embedder {
        /// The model's key in the configuration.
        key: String,
        /// The cause.
        cause: EmbedError,
    },
    /// The trained models in this program cannot be used.
    #[error(transparent)]
    Models(ModelsError),
    /// The data folder is in use by another process, or cannot be used.
    #[error("data_dir: {0}")]
    Folder(FolderError),
    /// A database in the data folder cannot be used.
    #[error("{}/{error}", error.folder().display())]
    Database {
        /// The cause.
        error: DatabaseError,
    },
    /// A configured resource cannot be used.
    #[error("{key}: {cause}")]
    Unusable {
        /// Its key in the configuration.
        key: &'static str,
        /// The cause.
        cause: String,
    },
    /// The client of a helper model cannot be created.
    #[error("external_models: {0}")]
    Helper(reqwest::Error),
    /// Cannot listen on an address.
    #[error("{key}: cannot listen on {address}: {cause}")]
    Listen {
        /// Its key in the configuration.
        key: &'static str,
        /// The address.
        address: String,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A listener failed while serving.
    #[error("{what} ended: {cause}")]
    Served {
        /// The listener.
        what: &'static str,
        /// The cause.
        cause: String,
    },
    /// A thread of memgate panicked.
    #[error("start-up was interrupted")]
    Interrupted,
}

impl StartError {
    /// A database in the data folder cannot be used.
    pub(super) fn database(error: DatabaseError) -> Self {
        Self::Database { error }
    }

    /// Whether a retry may help without any intervention: the disk is full, or the file system is
    /// temporarily read-only. Everything else refuses the start, including a data folder that
    /// cannot be created, because its path is most likely wrong.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Folder(error) => matches!(error, FolderError::Unusable { .. }),
            Self::Database { error } => !matches!(
                error,
                DatabaseError::NewerSchema { .. }
                    | DatabaseError::EarlierSchema { .. }
                    | DatabaseError::NotADatabase { .. }
                    | DatabaseError::Damaged { .. }
                    | DatabaseError::Migration { .. }
            ),
            _ => false,
        }
    }
}
