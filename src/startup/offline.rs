//! The API's operations without a running server, for the command line. The data folder is locked
//! for the duration of one command.

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::{
    api::Operations,
    startup::{StartError, embedder, memory::OpenMemory},
};
use memgate_config::{Config, Live};
use memgate_core::clock::Clock;
use memgate_embed::Embedder;
use memgate_models::Models;
use memgate_telemetry::Metrics;

/// Maximum time for each step of closing.
const CLOSE: Duration = Duration::from_secs(5);

/// The parts of memgate that a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// The store only; works without the model's files.
    Stored,
    /// Also the embedding model, which takes a third of a second to load.
    Model,
    /// Also the journal's jobs, which run as in `memgate serve`. Without them they stay pending.
    Jobs,
}

/// An opened data folder and its operations.
pub struct Offline {
    memory: OpenMemory,
    embedder: Arc<dyn Embedder>,
    operations: Operations,
}

impl Offline {
    /// Locks the data folder, opens store and journal, and loads the model if it is needed.
    ///
    /// # Errors
    /// [`StartError`], which names the process that holds the folder.
    pub async fn open(config: Config, need: Need) -> Result<Self, StartError> {
        Self::opened(config, need, Clock::System, |_| Ok(())).await
    }

    /// As [`Offline::open`], for commands that cannot run without a working embedding model.
    ///
    /// # Errors
    /// Also [`StartError::Embedder`] when the model does not answer; nothing was opened then.
    pub async fn open_answering(
        config: Config,
        need: Need,
        clock: Clock,
    ) -> Result<Self, StartError> {
        Self::opened(config, need, clock, embedder::answers).await
    }

    async fn opened(
        mut config: Config,
        need: Need,
        clock: Clock,
        check: fn(&dyn Embedder) -> Result<(), StartError>,
    ) -> Result<Self, StartError> {
        let open = move || {
            let metrics = Metrics::new();
            let embedder = match need {
                Need::Stored => embedder::absent(&config),
                Need::Model | Need::Jobs => {
                    let embedder = embedder::load(&config, &metrics)?;
                    check(embedder.as_ref())?;
                    embedder
                }
            };
            if need < Need::Jobs {
                config.memory.capture.workers = 0;
            }
            let models = Models::for_embedder(embedder.space()).map_err(StartError::Models)?;
            let memory = OpenMemory::open(&config, &embedder, &models, &metrics, &clock)?;
            let operations = memory.operations(
                &Live::fixed(config),
                &embedder,
                &metrics,
                CancellationToken::new(),
            );
            Ok(Self { memory, embedder, operations })
        };
        spawn_blocking(open).await.unwrap_or(Err(StartError::Interrupted))
    }

    /// The operations.
    #[must_use]
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Writes pending data and releases the folder.
    pub async fn close(self) {
        drop(self.operations);
        self.memory.close(CLOSE).await;
        self.embedder.close().await;
    }
}
