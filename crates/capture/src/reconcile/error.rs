//! Why candidates could not be reconciled.

use memgate_core::memory::StoreError;
use memgate_embed::EmbedError;

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
