//! Limits the concurrent requests to a server, separately for queries and passages.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{EmbedError, remote::provider::Role};

/// Maximum number of concurrent queries. Each is small; more would only wait at the server.
const QUERIES: usize = 16;
/// Maximum number of waiting queries; the same as for a local model.
const WAITING_QUERIES: usize = 256;
/// Maximum number of concurrent requests with passages. Two keep a server busy; it shares its
/// limits with queries.
const PASSAGES: usize = 2;
/// Maximum number of waiting requests with passages; they are background work and are retried
/// later.
const WAITING_PASSAGES: usize = 64;

/// The two lanes, so that passages do not delay queries.
pub(super) struct Lanes {
    queries: Lane,
    passages: Lane,
}

struct Lane {
    running: Arc<Semaphore>,
    waiting: Semaphore,
}

impl Default for Lanes {
    fn default() -> Self {
        let lane = |running, waiting| Lane {
            running: Arc::new(Semaphore::new(running)),
            waiting: Semaphore::new(waiting),
        };
        Self { queries: lane(QUERIES, WAITING_QUERIES), passages: lane(PASSAGES, WAITING_PASSAGES) }
    }
}

impl Lanes {
    /// Waits for a slot in first-come order.
    ///
    /// # Errors
    /// [`EmbedError::Busy`] when too many wait, [`EmbedError::Closed`] after `close`.
    pub(super) async fn enter(&self, role: Role) -> Result<OwnedSemaphorePermit, EmbedError> {
        let Lane { running, waiting } = match role {
            Role::Query => &self.queries,
            Role::Passage => &self.passages,
        };
        if let Ok(place) = Arc::clone(running).try_acquire_owned() {
            return Ok(place);
        }
        let _waiting = waiting.try_acquire().map_err(|_| EmbedError::Busy)?;
        Arc::clone(running).acquire_owned().await.map_err(|_| EmbedError::Closed)
    }

    /// Refuses all further requests.
    pub(super) fn close(&self) {
        for lane in [&self.queries, &self.passages] {
            lane.running.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_full_lane_refuses_and_does_not_delay_the_other() {
        let lanes = Lanes::default();
        let mut running = Vec::new();
        for _ in 0..PASSAGES {
            running.push(lanes.enter(Role::Passage).await.unwrap());
        }
        let mut waiting = Vec::new();
        for _ in 0..WAITING_PASSAGES {
            let mut enter = Box::pin(lanes.enter(Role::Passage));
            assert!((&mut enter).now_or_never().is_none(), "it waits");
            waiting.push(enter);
        }
        assert_eq!(lanes.enter(Role::Passage).await.unwrap_err(), EmbedError::Busy);
        drop(lanes.enter(Role::Query).await.unwrap());
        drop(running);
        assert!(waiting.remove(0).await.is_ok(), "who came first is next");
        lanes.close();
        assert_eq!(lanes.enter(Role::Query).await.unwrap_err(), EmbedError::Closed);
    }
}
