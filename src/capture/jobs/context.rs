//! What jobs work with.

use std::sync::Arc;

use crate::capture::{
    forget::ForgetContext, intake::Exchanges, jobs::per_user::Lanes, journal::Journal,
    settings::Live, writer::MemoryWriter,
};

/// What jobs work with.
pub(in crate::capture) struct JobContext {
    pub(in crate::capture) journal: Arc<Journal>,
    pub(in crate::capture) writer: MemoryWriter,
    pub(in crate::capture) live: Arc<Live>,
    pub(in crate::capture) lanes: Arc<Lanes>,
    pub(in crate::capture) exchanges: Arc<Exchanges>,
    pub(in crate::capture) forget: ForgetContext,
}
