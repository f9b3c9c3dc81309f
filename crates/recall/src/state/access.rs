//! Access counts: each presented memory's count is raised, in batches and off the request path. A count that the store
//! does not take, because it is unavailable or busy, is dropped: counts are hints.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::mpsc;

use memgate_core::memory::{MemoryId, MemoryStore, Owner, Touch};

/// Touches that may wait; more are dropped, since counts are hints.
const QUEUE: usize = 4_096;
/// Touches written at once.
const BATCH: usize = 512;

/// The entry of the queue; clones share it. The task ends when the last clone is gone.
#[derive(Clone, Debug)]
pub struct AccessTracker {
    queue: mpsc::Sender<Touch>,
}

impl AccessTracker {
    /// The tracker and the task that writes; spawn the task where it is owned.
    pub fn new(store: Arc<dyn MemoryStore>) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        let task = async move {
            let mut batch = Vec::with_capacity(BATCH);
            while waiting.recv_many(&mut batch, BATCH).await > 0 {
                if let Err(error) = store.touch(&batch).await {
                    tracing::debug!(%error, "access counts were not written");
                }
                batch.clear();
            }
        };
        (Self { queue }, task)
    }

    /// A tracker that writes nothing.
    #[must_use]
    pub fn off() -> Self {
        let (queue, _) = mpsc::channel(1);
        Self { queue }
    }

    /// Notes that these memories were presented.
    pub fn presented<'a>(
        &self,
        memories: impl Iterator<Item = (&'a Owner, &'a MemoryId)>,
        at: Timestamp,
    ) {
        for (owner, id) in memories {
            let touch = Touch { owner: owner.clone(), id: id.clone(), at };
            if self.queue.try_send(touch).is_err() {
                return;
            }
        }
    }
}
