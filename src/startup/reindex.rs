//! Re-embeds all memories with the configured model and switches to the new vectors.
//!
//! It only adds vectors, so it can be stopped and resumed at any time. With a store on a server it
//! can run beside memgates that still use the old model.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::startup::{
    StartError, embedder,
    store::{Purpose, choose},
};
use memgate_access::Audit;
use memgate_capture::{Backfill, Tools, TurnTrail};
use memgate_config::{Config, StoreKind};
use memgate_core::{clock::Clock, memory::MemoryStore};
use memgate_embed::Embedder;
use memgate_models::Models;
use memgate_sqlite::DataFolder;
use memgate_store::UnreadableRows;
use memgate_telemetry::Metrics;

/// Number of memories embedded between two progress reports.
const STEP: usize = 256;

/// Why the reindex did not finish.
#[derive(Debug, thiserror::Error)]
pub enum ReindexError {
    /// The store or the model cannot be opened.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store or the model failed on the way.
    #[error("{cause}; run it again to resume")]
    Broken {
        /// The cause.
        cause: String,
    },
}

/// Result of a reindex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindexed {
    /// Number of memories that were embedded.
    pub embedded: usize,
    /// Number of memories that the model cannot embed; they are found by words alone.
    pub passed_over: usize,
    /// The space that is in use now.
    pub space: String,
}

/// Embeds all memories with the configured model, then switches to the new vectors. `progress` gets
/// the number of embedded memories.
///
/// # Errors
/// [`ReindexError`]; the old vectors are still in use then.
pub async fn reindex(
    config: Config,
    progress: impl FnMut(usize),
) -> Result<Reindexed, ReindexError> {
    let opened = spawn_blocking(move || open(&config)).await;
    let (folder, store, embedder) = opened.unwrap_or(Err(StartError::Interrupted))?;
    let done = embed_all(&store, &embedder, progress).await;
    store.close().await;
    embedder.close().await;
    drop(folder);
    done.map_err(|cause| ReindexError::Broken { cause })
}

async fn embed_all(
    store: &Arc<dyn MemoryStore>,
    embedder: &Arc<dyn Embedder>,
    mut progress: impl FnMut(usize),
) -> Result<Reindexed, String> {
    embedder.check().await.map_err(|error| error.to_string())?;
    store.check().await.map_err(|error| error.to_string())?;
    let (metrics, space) = (Metrics::new(), embedder.space().id());
    let models = Models::for_embedder(embedder.space()).map_err(|error| error.to_string())?;
    let tools = Tools {
        store: store.clone(),
        embedder: embedder.clone(),
        models,
        audit: Audit::none(),
        metrics,
        trail: TurnTrail::off(),
        clock: Clock::System,
    };
    let mut backfill = Backfill::new(tools);
    let mut embedded = 0;
    loop {
        match backfill.step(STEP).await? {
            0 => break,
            more => embedded += more,
        }
        progress(embedded);
    }
    store.use_space(&space).await.map_err(|error| error.to_string())?;
    Ok(Reindexed { embedded, passed_over: backfill.passed_over(), space })
}

type Opened = (Option<DataFolder>, Arc<dyn MemoryStore>, Arc<dyn Embedder>);

/// Only a store inside the data folder needs the lock.
fn open(config: &Config) -> Result<Opened, StartError> {
    let folder = match config.memory.store_kind() {
        StoreKind::Sqlite => {
            Some(DataFolder::lock(&config.data_dir, None).map_err(StartError::Folder)?)
        }
        StoreKind::Milvus | StoreKind::Postgres => None,
    };
    let embedder = embedder::load(config, &Metrics::new())?;
    let path = folder.as_ref().map_or(config.data_dir.as_path(), DataFolder::path);
    let unreadable = UnreadableRows::default();
    let store =
        choose(config, embedder.space(), path, Purpose::Reindex, Clock::System, unreadable)?;
    Ok((folder, store, embedder))
}
