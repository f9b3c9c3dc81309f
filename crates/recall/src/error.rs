//! Why recall has no answer.

use memgate_core::memory::StoreError;

/// Why recall has no answer. The texts are ours and hold no content.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// Neither vectors nor words could be searched.
    #[error("embedding failed and so did the search by words: {0}")]
    Embedding(StoreError),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// The store is known to be unavailable, and was not asked.
    #[error("store unavailable: it cannot be reached now, memgate goes on trying")]
    Unavailable,
    /// The deadline passed.
    #[error("deadline passed")]
    Deadline,
}

impl RecallError {
    /// Logs it, as loud as an operator needs it.
    pub fn log(&self) {
        match self {
            Self::Deadline => tracing::warn!("Memory search timeout, skipping"),
            Self::Embedding(cause) => tracing::warn!(%cause, "Embedding failed, skipping memory"),
            Self::Store(cause @ StoreError::Busy(_)) => {
                tracing::warn!(%cause, "Memory search failed, skipping");
            }
            // The store is there, and something in it does not work.
            Self::Store(cause) => tracing::error!(%cause, "Store unavailable, memory disabled"),
            // Logged once, when it became unavailable.
            Self::Unavailable => {
                tracing::debug!("the store is away, the request goes on without memory");
            }
        }
    }
}
