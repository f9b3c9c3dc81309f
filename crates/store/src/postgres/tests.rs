//! The conformance suite against a real server, and tests of what PostgreSQL adds.
//!
//! `MEMGATE_TEST_POSTGRES` names the server. The tests are ignored, so that a run without a server
//! counts them as skipped; `cargo xtask test` runs them on the server that it started. The tests of
//! a slot share one schema, emptied between tests.

mod damage;
mod failures;
mod isolation;
mod plans;
mod shared;

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio_postgres::NoTls;

use crate::{UnreadableRows, conformance::conforms, postgres::*};
use memgate_core::memory::{Actor, MemoryType, QueryVector, Reader, Source, Visibility};

/// Serialises the tests of one process.
static SERVER: Mutex<()> = Mutex::const_new(());

/// Random sequences for a server.
const SEQUENCES: u32 = 12;

const SPACE: &str = "test/4/mean";

/// The port of the test server.
fn server() -> u16 {
    let address = std::env::var("MEMGATE_TEST_POSTGRES").ok();
    let port = address.as_deref().and_then(|address| address.rsplit(':').next()?.parse().ok());
    port.expect("MEMGATE_TEST_POSTGRES names a server as HOST:PORT")
}

/// A name that no other run uses, and no test at the same time: nextest gives each test a process,
/// and those of a test group a slot.
fn unique(name: &str) -> String {
    let run = std::env::var("NEXTEST_RUN_ID").map_or_else(
        |_| std::process::id().to_string(),
        |run| run.chars().filter(char::is_ascii_alphanumeric).take(12).collect(),
    );
    let slot = std::env::var("NEXTEST_TEST_GROUP_SLOT").unwrap_or_default();
    format!("test_{name}_{run}_{slot}")
}

fn settings(port: u16, schema: &str) -> PostgresSettings {
    PostgresSettings {
        host: "127.0.0.1".into(),
        port,
        tls: None,
        user: "memgate".into(),
        password: None,
        database: "memgate".into(),
        schema: unique(schema),
        partitions: 3,
        connections: 4,
        connect_timeout: Duration::from_secs(60),
        timeout: Duration::from_secs(60),
        cache_bytes: 1 << 20,
        unreadable: UnreadableRows::default(),
    }
}

async fn opened(settings: PostgresSettings) -> PostgresStore {
    let store = PostgresStore::open(settings).await.unwrap();
    store.check().await.unwrap();
    store.clear(&write()).await.unwrap();
    store
}

/// An empty store for one test.
async fn store(cache_bytes: usize) -> (PostgresStore, MutexGuard<'static, ()>) {
    let alone = SERVER.lock().await;
    let settings = PostgresSettings { cache_bytes, ..settings(server(), "suite") };
    (opened(settings).await, alone)
}

conforms!(store(1 << 20), SEQUENCES, ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES");

/// Without cache space, every search reads the words.
mod uncached {
    use crate::conformance::conforms;

    conforms!(
        super::store(0),
        super::SEQUENCES,
        ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"
    );
}

/// A connection as another role or to another database, past the store.
async fn connect(port: u16, user: &str, database: &str) -> tokio_postgres::Client {
    let target = format!("host=127.0.0.1 port={port} user={user} dbname={database}");
    let (client, connection) = tokio_postgres::connect(&target, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn write() -> Write {
    Write::by(Actor::Api, "test")
}

fn owner(user: &str) -> Owner {
    Owner::of_user(user).unwrap()
}

fn note(user: &str, name: &str, content: &str) -> Memory {
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    let (id, now) = (MemoryId::from_outside(name), Timestamp::UNIX_EPOCH);
    Memory::new(id, owner(user), kind, content, Source::ExplicitUserInput, now)
}

fn east() -> Vec<Embedding> {
    vec![Embedding { space: SPACE.into(), part: 0, values: [1.0, 0.0, 0.0, 0.0].into() }]
}

fn near(user: &str) -> Search {
    Search {
        scopes: vec![ScopeQuery::of(owner(user))],
        shared: None,
        filter: None,
        vector: Some(QueryVector { space: SPACE.into(), values: [1.0, 0.0, 0.0, 0.0].into() }),
        text: Some("cat".into()),
        limit: 10,
        now: Timestamp::UNIX_EPOCH,
    }
}

/// Number of rows of all tables, of all owners.
async fn rows(store: &PostgresStore) -> i64 {
    let transaction = store.begin(Mode::Read, EVERYBODY).await.unwrap();
    let count = "SELECT (SELECT count(*) FROM memories) + (SELECT count(*) FROM versions) \
         + (SELECT count(*) FROM vectors) + (SELECT count(*) FROM owners)";
    let rows = transaction.query_once(count, &[]).await.unwrap();
    transaction.end();
    rows[0].get(0)
}
