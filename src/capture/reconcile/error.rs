//! Why candidates could not be reconciled.

use crate::{embed::EmbedError, memory::StoreError};

/// Why candidates could not be reconciled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReconcileError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder failed, and the candidates wait for their vectors.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}
