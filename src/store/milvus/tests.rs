//! The conformance suite against real servers, and each known trap of theirs as a test.
//!
//! `MEMGATE_TEST_MILVUS` and `MEMGATE_TEST_MILVUS_LITE` name the servers, as `cargo xtask test` sets
//! them; without, these tests say that they skip. One collection serves them all, emptied between
//! tests, since a new one takes Milvus seconds.

mod traps;

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use super::*;
use crate::memory::Actor;

/// What the tests of this process share: one of them at a time with a server.
static SERVER: Mutex<()> = Mutex::const_new(());
/// The same of Milvus Lite.
static LITE: Mutex<()> = Mutex::const_new(());

/// A server's address, where one is to be tested with.
fn server(variable: &str) -> Option<String> {
    let address = std::env::var(variable).ok().filter(|address| !address.is_empty());
    if address.is_none() {
        #[expect(clippy::print_stderr, reason = "who runs the tests must know")]
        {
            eprintln!("skipped: {variable} names no server");
        }
    }
    address
}

/// For a collection of this process's own.
fn settings(address: String, collection: &str) -> MilvusSettings {
    MilvusSettings {
        address,
        tls: None,
        token: None,
        database: String::new(),
        collection: format!("test_{collection}_{}", std::process::id()),
        space: "test/4/mean".into(),
        dimension: 4,
        reindexing: false,
        partitions: 2,
        hnsw_m: 16,
        ef_construction: 64,
        connect_timeout: Duration::from_secs(10),
        timeout: Duration::from_secs(10),
        attempts: 2,
        // The suite is to go the way of every day: Bounded reads under the overlay.
        staleness: Duration::ZERO,
    }
}

/// An empty store, this test's alone.
async fn store(
    variable: &str,
    shared: &'static Mutex<()>,
) -> Option<(MilvusStore, MutexGuard<'static, ()>)> {
    let address = server(variable)?;
    let alone = shared.lock().await;
    let store = MilvusStore::open(settings(address, "suite")).await.unwrap();
    store.check().await.unwrap();
    store.clear(&Write::by(Actor::Api, "test")).await.unwrap();
    Some((store, alone))
}

mod real {
    use crate::store::conformance::conforms;

    conforms!(super::store("MEMGATE_TEST_MILVUS", &super::SERVER));
}

mod lite {
    use crate::store::conformance::conforms;

    conforms!(super::store("MEMGATE_TEST_MILVUS_LITE", &super::LITE));
}
