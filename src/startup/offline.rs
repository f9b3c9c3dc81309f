//! The same operations without a running server, for the command line: the data folder is taken
//! for as long as one command takes.

use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::{StartError, embedder, memory::OpenMemory};
use crate::{
    api::Operations,
    config::{Config, Live},
    embed::Embedder,
    telemetry::Metrics,
};

/// The longest each step of closing may take.
const CLOSE: Duration = Duration::from_secs(5);

/// An opened data folder and what may be done to it.
pub struct Offline {
    memory: OpenMemory,
    embedder: Arc<dyn Embedder>,
    operations: Operations,
}

impl Offline {
    /// Takes the data folder, loads the model and opens store and journal.
    ///
    /// # Errors
    /// [`StartError`], which names the process that has the folder.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        let open = move || {
            let embedder = embedder::load(&config).map_err(StartError::Embedder)?;
            let metrics = Metrics::new();
            let memory = OpenMemory::open(&config, &embedder, &metrics)?;
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
