//! Rows that something else than memgate has written, or a disk has damaged.

use async_trait::async_trait;

use crate::{
    InMemoryStore, MonitoredStore,
    conformance::{transfer::all, *},
};
use memgate_core::memory::{
    ListQuery, MemoryStore, Reader, Restored, SharedScope, StoreError, Visibility, Whole, Within,
};

/// Raw access to the rows of a store.
#[async_trait]
pub(crate) trait Damage {
    /// Damages the row of a memory in this way, and returns true; false if there is no such way.
    async fn damage(&self, owner: &Owner, id: &MemoryId, way: usize) -> bool;
}

#[async_trait]
impl Damage for InMemoryStore {
    /// It has no rows.
    async fn damage(&self, _owner: &Owner, _id: &MemoryId, _way: usize) -> bool {
        false
    }
}

#[async_trait]
impl Damage for MonitoredStore {
    async fn damage(&self, _owner: &Owner, _id: &MemoryId, _way: usize) -> bool {
        false
    }
}

async fn put(store: &dyn MemoryStore, user: &str, name: &str, seconds: i64) {
    let (created_at, visibility) = (at(seconds), Visibility::Public);
    let memory = Memory { created_at, visibility, ..note(user, name, "The cat sleeps") };
    store.store(memory, vec![], &write()).await.unwrap();
}

fn names(memories: &[Memory]) -> Vec<&str> {
    let mut names: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
    names.sort_unstable();
    names
}

/// Each way by itself. The damaged memory is the one that is stored first, and neither the oldest nor the newest.
pub(crate) async fn a_row_that_cannot_be_read_costs_itself_alone<S: MemoryStore + Damage>(
    store: &S,
) {
    let (alice, bad) = (owner("alice"), id("bad"));
    for way in 0.. {
        put(store, "alice", "bad", 2).await;
        put(store, "alice", "old", 1).await;
        put(store, "alice", "new", 3).await;
        put(store, "bob", "his", 4).await;
        if !store.damage(&alice, &bad, way).await {
            break;
        }
        let hers = ["new", "old"];
        let found = store.retrieve(&words("alice", "cat")).await.unwrap();
        assert_eq!(sorted(&found), hers, "by words, way {way}");
        assert_eq!(sorted(&store.retrieve(&search("alice")).await.unwrap()), hers, "way {way}");
        let reader = Reader { owner: owner("carol"), roles: vec![], agent: None };
        let shared = SharedScope { reader, projects: Within::All, types: vec![] };
        let search = Search { scopes: vec![], shared: Some(shared), ..words("carol", "cat") };
        let found = store.retrieve(&search).await.unwrap();
        assert_eq!(sorted(&found), ["his", "new", "old"], "what others share, way {way}");
        for limit in [1, 2, 50] {
            let (mut listed, mut cursor) = (Vec::new(), None);
            loop {
                let scope = ScopeQuery::of(alice.clone());
                let query = ListQuery { scope, filter: None, limit, cursor, now: now() };
                let page = store.list(&query).await.unwrap();
                listed.extend(page.memories);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(names(&listed), hers, "pages of {limit}, way {way}");
            for (owner, expected) in [(Some(&alice), &hers[..]), (None, &["new", "old", "his"])] {
                let scanned = all(store, owner, limit).await;
                let scanned: Vec<&str> =
                    scanned.iter().map(|whole| whole.memory.id.as_str()).collect();
                assert_eq!(scanned, expected, "scan by {limit}, way {way}");
            }
            let missing = store.unembedded(SPACE, limit).await.unwrap();
            assert_eq!(missing.len(), limit.min(3), "way {way}");
            assert!(missing.iter().all(|memory| memory.id != bad), "way {way}");
        }
        let asked = [(alice.clone(), bad.clone()), (owner("bob"), id("his"))];
        assert_eq!(names(&store.get_all(&asked, now()).await.unwrap()), ["his"], "way {way}");
        let got = store.get(&alice, &bad, now()).await;
        assert!(matches!(got, Err(StoreError::Unreadable(_))), "way {way}: {got:?}");
        let again = note("alice", "bad", "cat");
        let again = Whole { memory: again, history: vec![], vectors: vec![] };
        assert_eq!(store.restore(again, &write()).await.unwrap(), Restored::Differs, "way {way}");
        assert_eq!(store.forget(&alice, &bad, &write()).await.unwrap(), 1, "way {way}");
        let got = store.get(&alice, &bad, now()).await;
        assert!(matches!(got, Err(StoreError::NotFound)), "way {way}: {got:?}");
        store.clear(&write()).await.unwrap();
    }
}
