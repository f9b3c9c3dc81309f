//! The same operations without a running server, for the command line: the data folder is taken
//! for as long as one command takes.

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::{StartError, embedder, memory::OpenMemory};
use crate::{
    api::Operations,
    config::{Config, Live},
    embed::Embedder,
    models::Models,
    telemetry::Metrics,
};

/// The longest each step of closing may take.
const CLOSE: Duration = Duration::from_secs(5);

/// How much of memgate a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// What is stored. It works without the model's files.
    Stored,
    /// The embedding model besides, which takes a third of a second to load.
    Model,
    /// The jobs besides: what the journal owes is done, as `memgate serve` does it. Without them it
    /// stays owed; most commands are too short to learn.
    Jobs,
}

/// An opened data folder and what may be done to it.
pub struct Offline {
    memory: OpenMemory,
    embedder: Arc<dyn Embedder>,
    operations: Operations,
}

impl Offline {
    /// Loads the model, if it is needed, takes the data folder and opens store and journal.
    ///
    /// # Errors
    /// [`StartError`], which names the process that has the folder.
    pub async fn open(config: Config, need: Need) -> Result<Self, StartError> {
        Self::opened(config, need, |_| Ok(())).await
    }

    /// The same, for who can do nothing while the embedding model does not answer.
    ///
    /// # Errors
    /// Also [`StartError::Embedder`] when it does not; nothing was opened then.
    pub async fn open_answering(config: Config, need: Need) -> Result<Self, StartError> {
        Self::opened(config, need, embedder::answers).await
    }

    async fn opened(
        mut config: Config,
        need: Need,
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
            let memory = OpenMemory::open(&config, &embedder, &models, &metrics)?;
            let operations = memory.operations(&Live::fixed(config), &embedder, &metrics);
            Ok(Self { memory, embedder, operations })
        };
        spawn_blocking(open).await.unwrap_or(Err(StartError::Interrupted))
    }

    /// What may be done.
    #[must_use]
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Writes what waits and gives the folder back.
    pub async fn close(self) {
        drop(self.operations);
        self.memory.close(CLOSE).await;
        self.embedder.close().await;
    }
}
