//! Why memgate does not start, in words for whoever starts it.

use std::io;

use crate::{
    embed::EmbedError,
    models::ModelsError,
    sqlite::{DatabaseError, FolderError},
};

/// Why there is no running memgate. Each says all in one sentence, so none has a source: a chain of
/// causes would say it twice.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedding model or its runtime cannot be used.
    #[error("{key}: {cause}")]
    Embedder {
        /// Where the model stands in the configuration.
        key: String,
        /// Why.
        cause: EmbedError,
    },
    /// The trained models that this program was built with cannot be used.
    #[error(transparent)]
    Models(ModelsError),
    /// The data folder belongs to another process, or cannot be used.
    #[error("data_dir: {0}")]
    Folder(FolderError),
    /// A database in the data folder cannot be used.
    #[error("{}/{error}", error.folder().display())]
    Database {
        /// What is wrong with it.
        error: DatabaseError,
    },
    /// What the configuration names cannot be used.
    #[error("{key}: {cause}")]
    Unusable {
        /// The configuration's key.
        key: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// The client of a helper model cannot be made.
    #[error("external_models: {0}")]
    Helper(reqwest::Error),
    /// An address cannot be listened on.
    #[error("{key}: cannot listen on {address}: {cause}")]
    Listen {
        /// The configuration's key.
        key: &'static str,
        /// The address.
        address: String,
        /// What the operating system says.
        cause: io::Error,
    },
    /// A listener failed while serving.
    #[error("{what} ended: {cause}")]
    Served {
        /// Which side.
        what: &'static str,
        /// What it said.
        cause: String,
    },
    /// A thread of ours panicked.
    #[error("start-up was interrupted")]
    Interrupted,
}

impl StartError {
    /// A database in the data folder cannot be used.
    pub(super) fn database(error: DatabaseError) -> Self {
        Self::Database { error }
    }

    /// Whether trying again may help without anybody changing the files or the program: the disk is
    /// full, the folder's own file system is read-only for now. What needs a person refuses the start
    /// instead, a data folder that is not there and cannot be made among it: most likely its name is
    /// wrong.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Folder(error) => matches!(error, FolderError::Unusable { .. }),
            Self::Database { error } => !matches!(
                error,
                DatabaseError::NewerSchema { .. }
                    | DatabaseError::NotADatabase { .. }
                    | DatabaseError::Damaged { .. }
                    | DatabaseError::Migration { .. }
            ),
            _ => false,
        }
    }
}
