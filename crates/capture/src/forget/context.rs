//! What forgetting works with.

use std::sync::Arc;

use crate::{intake::Exchanges, journal::Journal};
use memgate_core::memory::MemoryStore;

/// Everything that may hold what is to be forgotten.
#[derive(Clone)]
pub(crate) struct ForgetContext {
    pub(crate) store: Arc<dyn MemoryStore>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) exchanges: Arc<Exchanges>,
}
