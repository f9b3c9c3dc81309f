//! The conformance suite against real servers, and a test for each known pitfall of Milvus.
//!
//! `MEMGATE_TEST_MILVUS` and `MEMGATE_TEST_MILVUS_LITE` name the servers. The tests are ignored, so
//! that a run without servers counts them as skipped; `cargo xtask test` runs those whose server it
//! started. The tests of a slot share one collection, emptied between tests, because creating one
//! takes Milvus seconds.

mod damage;
mod traps;

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use crate::{UnreadableRows, milvus::*};
use memgate_core::{clock::Clock, memory::Actor};

/// Serialises the tests that use the server.
static SERVER: Mutex<()> = Mutex::const_new(());
/// One test at a time uses Milvus Lite.
static LITE: Mutex<()> = Mutex::const_new(());

/// Random sequences for a server, which takes seconds for each; `cargo xtask test --long` plays more.
const SEQUENCES: u32 = 12;
/// Milvus Lite takes longer, and plays the first of them.
const SEQUENCES_OF_LITE: u32 = 6;

/// The address of a test server.
fn server(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names no server"))
}

/// Settings with a collection that no other run uses, and no test at the same time: nextest gives each test a process, and
/// those of a test group a slot.
fn settings(address: String, collection: &str) -> MilvusSettings {
    let run = std::env::var("NEXTEST_RUN_ID").map_or_else(
        |_| std::process::id().to_string(),
        |run| run.chars().filter(char::is_ascii_alphanumeric).collect(),
    );
    let slot = std::env::var("NEXTEST_TEST_GROUP_SLOT").unwrap_or_default();
    MilvusSettings {
        address,
        tls: None,
        token: None,
        database: String::new(),
        collection: format!("test_{collection}_{run}_{slot}"),
        space: "test/4/mean".into(),
        dimension: 4,
        reindexing: false,
        partitions: 2,
        hnsw_m: 16,
        ef_construction: 64,
        connect_timeout: Duration::from_secs(60),
        timeout: Duration::from_secs(60),
        attempts: 2,
        // Zero, so that the suite uses bounded reads with the overlay.
        staleness: Duration::ZERO,
        clock: Clock::System,
        unreadable: UnreadableRows::default(),
    }
}

/// An empty store for one test.
async fn store(
    variable: &str,
    shared: &'static Mutex<()>,
) -> (MilvusStore, MutexGuard<'static, ()>) {
    let alone = shared.lock().await;
    let store = MilvusStore::open(settings(server(variable), "suite")).await.unwrap();
    store.check().await.unwrap();
    store.clear(&Write::by(Actor::Api, "test")).await.unwrap();
    (store, alone)
}

mod real {
    use crate::conformance::conforms;

    conforms!(
        super::store("MEMGATE_TEST_MILVUS", &super::SERVER),
        super::SEQUENCES,
        ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"
    );
}

mod lite {
    use crate::conformance::conforms;

    conforms!(
        super::store("MEMGATE_TEST_MILVUS_LITE", &super::LITE),
        super::SEQUENCES_OF_LITE,
        ignore = "needs Milvus Lite: MEMGATE_TEST_MILVUS_LITE"
    );
}
