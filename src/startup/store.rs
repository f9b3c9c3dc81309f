//! Opens the configured store; the one place where it is chosen.

use std::{path::Path, sync::Arc};

use tokio::runtime::Handle;

use crate::startup::StartError;
use memgate_config::{ClientTlsConfig, Config, StoreKind, Sync};
use memgate_core::{clock::Clock, memory::MemoryStore};
use memgate_embed::Space;
use memgate_sqlite::Synchronous;
use memgate_store::{
    ClientTls, MilvusSettings, MilvusStore, MonitoredStore, PostgresSettings, PostgresStore,
    SqliteOptions, SqliteStore, UnreadableRows,
};
use memgate_telemetry::Metrics;

/// The SQLite store's file in the data folder.
const FILE: &str = "memories.db";

/// The purpose for which a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Normal use.
    Use,
    /// To embed with the configured model, which may differ from the model in use.
    Reindex,
}

/// Opens the store; the caller must run its monitor. A store inside the data folder must open; a
/// server may be unreachable, because the monitor keeps retrying.
pub(super) fn open(
    config: &Config,
    space: &Space,
    folder: &Path,
    metrics: &Arc<Metrics>,
    clock: Clock,
) -> Result<Arc<MonitoredStore>, StartError> {
    let unreadable = UnreadableRows::counted_in(metrics.clone());
    let store = choose(config, space, folder, Purpose::Use, clock, unreadable)?;
    let name = match config.memory.store_kind() {
        StoreKind::Sqlite | StoreKind::Postgres => "Store",
        StoreKind::Milvus => "Milvus",
    };
    Ok(Arc::new(MonitoredStore::new(store, name, metrics.clone())))
}

/// The configured store.
pub(super) fn choose(
    config: &Config,
    space: &Space,
    folder: &Path,
    purpose: Purpose,
    clock: Clock,
    unreadable: UnreadableRows,
) -> Result<Arc<dyn MemoryStore>, StartError> {
    Ok(match config.memory.store_kind() {
        StoreKind::Sqlite => Arc::new(sqlite(config, folder, unreadable)?),
        StoreKind::Milvus => Arc::new(milvus(config, space, purpose, clock, unreadable)?),
        StoreKind::Postgres => Arc::new(postgres(config, unreadable)?),
    })
}

fn sqlite(
    config: &Config,
    folder: &Path,
    unreadable: UnreadableRows,
) -> Result<SqliteStore, StartError> {
    let sqlite = &config.memory.sqlite;
    let options = SqliteOptions {
        synchronous: synchronous(sqlite.synchronous),
        readers: sqlite.readers,
        cache_bytes: sqlite.cache_mib << 20,
        unreadable,
        ..SqliteOptions::default()
    };
    SqliteStore::open(&folder.join(FILE), options).map_err(StartError::database)
}

fn client_tls(tls: &ClientTlsConfig) -> ClientTls {
    ClientTls {
        ca: tls.ca.clone(),
        identity: tls.certificate.clone().zip(tls.key.clone()),
        server_name: tls.server_name.clone(),
    }
}

/// Needs a runtime that may be blocked.
#[expect(clippy::disallowed_methods, reason = "start-up runs this on a thread that may block")]
fn milvus(
    config: &Config,
    space: &Space,
    purpose: Purpose,
    clock: Clock,
    unreadable: UnreadableRows,
) -> Result<MilvusStore, StartError> {
    let milvus = config.memory.milvus.clone().unwrap_or_default();
    let token = milvus.token_env.as_ref().and_then(|name| std::env::var(name).ok());
    let settings = MilvusSettings {
        tls: milvus.tls.as_ref().map(client_tls),
        // The configuration check has made sure that it is set.
        token: token.map(|token| token.trim().to_owned()),
        database: milvus.database.clone().unwrap_or_default(),
        space: space.id(),
        dimension: space.dimension,
        reindexing: purpose == Purpose::Reindex,
        partitions: milvus.partitions,
        hnsw_m: milvus.hnsw_m,
        ef_construction: milvus.ef_construction,
        connect_timeout: milvus.connect_timeout(),
        timeout: milvus.timeout(),
        attempts: milvus.attempts,
        staleness: milvus.staleness(),
        address: milvus.address,
        collection: milvus.collection,
        clock,
        unreadable,
    };
    Handle::current().block_on(MilvusStore::open(settings)).map_err(|refusal| {
        StartError::Unusable { key: "memory.milvus", cause: refusal.to_string() }
    })
}

/// Needs a runtime that may be blocked.
#[expect(clippy::disallowed_methods, reason = "start-up runs this on a thread that may block")]
fn postgres(config: &Config, unreadable: UnreadableRows) -> Result<PostgresStore, StartError> {
    let postgres = config.memory.postgres.clone().unwrap_or_default();
    let password = postgres.password_env.as_ref().and_then(|name| std::env::var(name).ok());
    let settings = PostgresSettings {
        // The configuration check has made sure that it is set.
        password: password.map(|password| password.trim().to_owned()),
        tls: postgres.tls.as_ref().map(client_tls),
        connect_timeout: postgres.connect_timeout(),
        timeout: postgres.timeout(),
        cache_bytes: postgres.cache_mib << 20,
        host: postgres.host,
        port: postgres.port,
        user: postgres.user,
        database: postgres.database,
        schema: postgres.schema,
        partitions: postgres.partitions,
        connections: postgres.connections,
        unreadable,
    };
    Handle::current().block_on(PostgresStore::open(settings)).map_err(|refusal| {
        StartError::Unusable { key: "memory.postgres", cause: refusal.to_string() }
    })
}

/// When a write to a file counts as durable.
pub(super) fn synchronous(sync: Sync) -> Synchronous {
    match sync {
        Sync::Normal => Synchronous::Normal,
        Sync::Full => Synchronous::Full,
    }
}
