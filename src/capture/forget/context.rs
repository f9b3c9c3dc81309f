//! What forgetting works with.

use std::sync::Arc;

use crate::{
    capture::{intake::Exchanges, journal::Journal},
    memory::MemoryStore,
};

/// Everything that may hold what is to be forgotten.
#[derive(Clone)]
pub(in crate::capture) struct ForgetContext {
    pub(in crate::capture) store: Arc<dyn MemoryStore>,
    pub(in crate::capture) journal: Arc<Journal>,
    pub(in crate::capture) exchanges: Arc<Exchanges>,
}
