//! Work on the texts of requests, off the async runtime: screening a long text takes a while, and the runtime's threads
//! answer everybody.

use std::{num::NonZero, sync::Arc, thread::available_parallelism, time::Duration};

use serde::Serialize;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use crate::api::ApiError;
use memgate_telemetry::{Metrics, PanicIn};

/// Longest texts that are worked on at once, in bytes: they take less time than handing them over is worth, and wait
/// for nobody's long text.
const SHORT: usize = 2 * 1024;
/// Long texts that are worked on at a time, on few cores. On more cores it is half of them.
const AT_ONCE: usize = 2;
/// Maximum time that a request waits for its turn; a 503 follows.
const PATIENCE: Duration = Duration::from_secs(10);

/// Size of a request as JSON, in bytes: about that of its texts.
pub(super) fn size(request: &impl Serialize) -> usize {
    serde_json::to_string(request).map_or(usize::MAX, |text| text.len())
}

/// A bounded number of threads for long texts.
#[derive(Clone)]
pub struct TextWork {
    turns: Arc<Semaphore>,
    metrics: Arc<Metrics>,
}

impl TextWork {
    /// Creates it; nothing is worked on yet.
    #[must_use]
    pub fn new(metrics: Arc<Metrics>) -> Self {
        let cores = available_parallelism().map_or(1, NonZero::get);
        Self { turns: Arc::new(Semaphore::new(AT_ONCE.max(cores / 2))), metrics }
    }

    /// Works on texts of this many bytes.
    ///
    /// # Errors
    /// 503 when too many long texts are before it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if bytes <= SHORT {
            return Ok(work());
        }
        let done = self.within(PATIENCE, PanicIn::Api, work).await?;
        done.ok_or_else(ApiError::internal)
    }

    /// Works on a long text after waiting at most this long for its turn. `None`: the work panicked.
    ///
    /// # Errors
    /// 503 when too many long texts are before it.
    pub(super) async fn within<T: Send + 'static>(
        &self,
        patience: Duration,
        part: PanicIn,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, ApiError> {
        let turn = timeout(patience, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(ApiError::texts_busy()) };
        let metrics = Arc::clone(&self.metrics);
        let work = move || {
            let done = metrics.catch(part, work);
            // Here and not in the request: a client that goes away must not make room for another text.
            drop(turn);
            done
        };
        spawn_blocking(work).await.map_err(|_| ApiError::interrupted())
    }

    #[cfg(test)]
    pub(in crate::api) fn turns(&self) -> &Arc<Semaphore> {
        &self.turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;

    #[tokio::test]
    async fn a_long_text_does_not_hold_the_runtime() {
        let texts = TextWork::new(Metrics::new());
        let (go, wait) = std::sync::mpsc::sync_channel(1);
        let work = texts.run(SHORT + 1, move || wait.recv());
        // The runtime has one thread: where `work` held it, nobody would send.
        let (done, ()) = tokio::join!(work, async { go.send(7).unwrap() });
        assert_eq!(done.unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn a_long_text_that_waits_too_long_is_answered_with_503_and_a_short_one_is_not() {
        let texts = TextWork::new(Metrics::new());
        let free = texts.turns.available_permits();
        let taken = texts.turns.clone().acquire_many_owned(free as u32).await;
        let late = texts.within(Duration::ZERO, PanicIn::Api, || 1).await.unwrap_err();
        assert_eq!((late.status, late.retry_after), (StatusCode::SERVICE_UNAVAILABLE, Some(1)));
        assert_eq!(texts.run(SHORT, || 1).await, Ok(1));
        drop(taken);
        assert_eq!(texts.within(Duration::ZERO, PanicIn::Api, || 1).await, Ok(Some(1)));
    }
}
