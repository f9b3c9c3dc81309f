//! The outcomes and the errors of reconciliation.

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

/// The outcome for a candidate, and for the memories that it met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Outcome {
    /// A new memory.
    Created,
    /// A new version of a memory.
    Updated,
    /// A repeated statement; the memory's confidence rises.
    Reinforced,
    /// A memory that no longer holds.
    Superseded,
    /// A memory that may no longer hold; it stays, and is marked.
    Doubted,
    /// A turn memory of which outdated sentences were removed.
    Outdated,
    /// Two contradicting memories, marked for review.
    Review,
}
