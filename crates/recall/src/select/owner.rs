//! The owner of every row, checked once more.

use memgate_core::memory::{Evidence, Owner};

/// A second look at every row's owner, outside the store: a mistake in a query
/// language must not become somebody else's memory.
pub(crate) fn of_owner(evidence: Vec<Evidence>, owner: &Owner) -> Vec<Evidence> {
    let found = evidence.len();
    let own: Vec<_> = evidence.into_iter().filter(|e| e.memory.owner == *owner).collect();
    if own.len() != found {
        tracing::error!(rows = found - own.len(), "the store returned rows of another owner");
    }
    own
}
