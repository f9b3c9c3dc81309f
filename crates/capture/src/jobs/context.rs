//! What jobs work with.

use std::sync::Arc;

use crate::{
    forget::ForgetContext, intake::Exchanges, jobs::per_user::Lanes, journal::Journal,
    settings::Live, writer::MemoryWriter,
};

/// What jobs work with.
pub(crate) struct JobContext {
    pub(crate) journal: Arc<Journal>,
    pub(crate) writer: MemoryWriter,
    pub(crate) live: Arc<Live>,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) exchanges: Arc<Exchanges>,
    pub(crate) forget: ForgetContext,
}
