//! A data folder that cannot be used yet: requests pass without memory, and it is tried again.

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::{StartError, memory::OpenMemory};
use crate::{config::Config, embed::Embedder, models::Models, telemetry::Metrics};

/// The pause after the first failure; it doubles …
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What it takes to open the data folder.
#[derive(Clone)]
pub(super) struct Opener {
    pub(super) config: Arc<Config>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) models: Arc<Models>,
    pub(super) metrics: Arc<Metrics>,
}

impl Opener {
    /// Tries once, off the runtime.
    pub(super) async fn try_open(&self) -> Result<OpenMemory, StartError> {
        let Self { config, embedder, models, metrics } = self.clone();
        let open = move || OpenMemory::open(&config, &embedder, &models, &metrics);
        spawn_blocking(open).await.unwrap_or(Err(StartError::Interrupted))
    }

    /// Tries until it works; `None` when the end came first.
    pub(super) async fn keep_trying(&self, shutdown: &CancellationToken) -> Option<OpenMemory> {
        let mut pause = FIRST_PAUSE;
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return None,
                () = tokio::time::sleep(pause) => {}
            }
            // Not in the select: an attempt that is dropped half way could open it for nobody.
            match self.try_open().await {
                Ok(memory) => {
                    tracing::info!("Store available, memory enabled");
                    return Some(memory);
                }
                Err(error) => tracing::debug!(%error, "the data folder still cannot be used"),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
