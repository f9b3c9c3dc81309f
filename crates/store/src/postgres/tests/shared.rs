//! The search of what others share: it is nobody's hostage, and nobody is its.

use tokio::time::{sleep, timeout};

use crate::postgres::tests::*;
use memgate_core::memory::{SharedScope, Within};

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn reading_what_others_share_goes_on_without_its_request_and_leaves_ones_own_alone() {
    let (store, _alone) = super::store(1 << 20).await;
    store.store(note("bob", "own", "cat"), east(), &write()).await.unwrap();
    let public = Memory { visibility: Visibility::Public, ..note("alice", "public", "cat") };
    store.store(public, east(), &write()).await.unwrap();
    let reader = Reader { owner: owner("bob"), roles: Vec::new(), agent: None };
    let scope = SharedScope { reader, projects: Within::All, types: Vec::new() };
    let shared = Search { scopes: Vec::new(), shared: Some(scope), ..near("bob") };

    let turns = store.shared_searches.available_permits();
    let reading = store.cache.reading.lock().await;
    // A request that leaves before its search has begun leaves nothing behind.
    while store.shared_searches.available_permits() == turns {
        let left = timeout(Duration::from_millis(50), store.retrieve(&shared)).await;
        assert!(left.is_err(), "it waits for the one that reads");
    }
    assert_eq!(store.retrieve(&near("bob")).await.unwrap().len(), 1);
    drop(reading);
    let read = async {
        while store.cache.indexes.len() < 2 || store.shared_searches.available_permits() < turns {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(30), read).await.expect("what was read is in the cache");
    let found = store.retrieve(&shared).await.unwrap();
    assert_eq!(found.iter().map(|it| it.memory.id.as_str()).collect::<Vec<_>>(), ["public"]);
    store.close().await;
}
