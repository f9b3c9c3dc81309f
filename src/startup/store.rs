//! The store that the configuration names: the one place where it is chosen.

use std::{path::Path, sync::Arc};

use super::{StartError, memory::synchronous};
use crate::{
    config::{Config, StoreKind},
    memory::MemoryStore,
    store::{SqliteOptions, SqliteStore, Watched},
    telemetry::Metrics,
};

/// The SQLite store's file in the data folder.
const FILE: &str = "memories.db";

/// Opens the store; somebody must watch it. What lives in the data folder is open then, or it is
/// an error. A server is opened without being reached: that may take as long as it likes.
pub(super) fn open(
    config: &Config,
    folder: &Path,
    metrics: &Arc<Metrics>,
) -> Result<Arc<Watched>, StartError> {
    let (store, name): (Arc<dyn MemoryStore>, _) = match config.memory.store_kind() {
        StoreKind::Sqlite => (Arc::new(sqlite(config, folder)?), "Store"),
        StoreKind::Milvus => {
            let cause = "the milvus store is not available in this version";
            return Err(StartError::Store { key: "memory.store", cause: cause.to_owned() });
        }
    };
    Ok(Arc::new(Watched::new(store, name, metrics.clone())))
}

fn sqlite(config: &Config, folder: &Path) -> Result<SqliteStore, StartError> {
    let sqlite = &config.memory.sqlite;
    let options = SqliteOptions {
        synchronous: synchronous(sqlite.synchronous),
        readers: sqlite.readers,
        cache_bytes: sqlite.cache_mib << 20,
        ..SqliteOptions::default()
    };
    SqliteStore::open(&folder.join(FILE), options).map_err(StartError::Database)
}
