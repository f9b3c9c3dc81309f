//! The parts that capture shares.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::{
    intake::Exchanges, journal::Journal, lanes::Lanes, settings::Live, writer::MemoryWriter,
};

/// The parts that the façade, the jobs and forgetting share.
pub(super) struct Parts {
    pub(super) journal: Arc<Journal>,
    /// The store, and what memories are made with.
    pub(super) writer: MemoryWriter,
    pub(super) live: Arc<Live>,
    pub(super) lanes: Arc<Lanes>,
    pub(super) exchanges: Arc<Exchanges>,
    /// Notified when there may be new jobs.
    pub(super) wake: Arc<Notify>,
    /// Notified when a job was settled.
    pub(super) settled: Notify,
}
