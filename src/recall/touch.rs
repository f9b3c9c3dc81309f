//! Presented hits raise their access counts: batched, off the request path,
//! and given up rather than waited for. What the store does not take, because it is
//! away or busy, is not tried again: counts are hints.

use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::memory::{MemoryId, MemoryStore, Owner, Touch};

/// Touches that may wait; more are dropped, since counts are hints.
const QUEUE: usize = 4_096;
/// Touches written at once.
const BATCH: usize = 512;

/// The way in; clones share it. The task ends when the last one is gone.
#[derive(Clone, Debug)]
pub struct Touches {
    queue: mpsc::Sender<Touch>,
}

impl Touches {
    /// The way in and the task that writes; spawn it where it is owned.
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

    /// Notes that these memories were presented.
    pub fn presented(&self, owner: &Owner, ids: &[MemoryId], at: Timestamp) {
        for id in ids {
            let touch = Touch { owner: owner.clone(), id: id.clone(), at };
            if self.queue.try_send(touch).is_err() {
                return;
            }
        }
    }
}
