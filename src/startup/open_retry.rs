//! Retries opening the data folder while it is unusable; meanwhile requests pass without memory.

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::startup::{StartError, memory::OpenMemory};
use memgate_config::Config;
use memgate_core::clock::Clock;
use memgate_embed::Embedder;
use memgate_models::Models;
use memgate_telemetry::Metrics;

/// Pause after the first failure; doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Maximum pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Everything needed to open the data folder.
#[derive(Clone)]
pub(super) struct Opener {
    pub(super) config: Arc<Config>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) models: Arc<Models>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) clock: Clock,
}

impl Opener {
    /// Tries once, on a blocking thread.
    pub(super) async fn try_open(&self) -> Result<OpenMemory, StartError> {
        let Self { config, embedder, models, metrics, clock } = self.clone();
        let open = move || OpenMemory::open(&config, &embedder, &models, &metrics, &clock);
        spawn_blocking(open).await.unwrap_or(Err(StartError::Interrupted))
    }

    /// Retries until it succeeds; `None` if shutdown came first.
    pub(super) async fn keep_trying(&self, shutdown: &CancellationToken) -> Option<OpenMemory> {
        let mut pause = FIRST_PAUSE;
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return None,
                () = tokio::time::sleep(pause) => {}
            }
            // Not inside the `select!`: an attempt dropped half-way could leave the folder open.
            match self.try_open().await {
                Ok(memory) => {
                    tracing::info!("Store available, memory enabled");
                    return Some(memory);
                }
                Err(error) => tracing::debug!(%error, "the data folder is still unusable"),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
