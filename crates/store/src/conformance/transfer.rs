//! Moves memories from one store to another.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{InMemoryStore, SqliteOptions, SqliteStore, conformance::*};
use memgate_core::memory::{
    Filter, MemoryStore, Restored, Status, StoreError, Touch, Visibility, Whole,
};

const OTHER: &str = "other/2/cls";

fn whole(memory: Memory) -> Whole {
    Whole { memory, history: vec![], vectors: vec![] }
}

/// All memories of an owner, or of all owners, in pages of `limit`, by owner and id.
pub(super) async fn all(
    store: &dyn MemoryStore,
    owner: Option<&Owner>,
    limit: usize,
) -> Vec<Whole> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let scan = store.scan(owner, after.as_deref(), limit).await.unwrap();
        assert!(scan.found.len() <= limit);
        found.extend(scan.found);
        after = scan.next;
        if after.is_none() {
            break;
        }
    }
    found.sort_by_key(|whole| (whole.memory.owner.key(), whole.memory.id.clone()));
    found
}

/// Copies all memories of one store to another.
async fn carry(from: &dyn MemoryStore, to: &dyn MemoryStore) {
    for whole in all(from, None, 7).await {
        assert_eq!(to.restore(whole, &write()).await.unwrap(), Restored::Written);
    }
}

fn names(found: &[Whole]) -> Vec<&str> {
    found.iter().map(|whole| whole.memory.id.as_str()).collect()
}

/// Memories of several owners in all states, with versions, counts and vectors.
async fn fill(store: &dyn MemoryStore) {
    let east = [1.0, 0.0, 0.0, 0.0];
    let vectors = vec![
        Embedding { space: OTHER.into(), part: 0, values: [0.6, 0.8].into() },
        embedding(1, [0.3, -0.1, 7.0, f32::MIN_POSITIVE]),
        embedding(0, east),
    ];
    let first = store.store(full(), vectors, &write()).await.unwrap();
    let second = Memory { content: "two".into(), structured: Some(json!(null)), ..first };
    let second = store.update(second, Some(vec![embedding(0, east)]), &write()).await.unwrap();
    let third = Memory { raw: None, updated_at: at(9), ..second };
    store.update(third, None, &write()).await.unwrap();
    let touch = Touch { owner: owner("alice"), id: id("full"), at: at(5) };
    store.touch(&[touch]).await.unwrap();
    for &status in Status::ALL {
        let memory = Memory { status, ..note("alice", status.name(), "cat") };
        store.store(memory, vec![embedding(0, east)], &write()).await.unwrap();
    }
    let expired = Memory { expires_at: Some(at(1)), ..note("alice", "expired", "cat") };
    store.store(expired, vec![], &write()).await.unwrap();
    for user in ["bob", "a/b", "a%2Fb", "'; --", "\u{1F980}", "e\u{301}", " "] {
        for name in ["m", "/", "a/b", "%", "\u{e9}", "\\'\""] {
            store.store(note(user, name, name), vec![], &write()).await.unwrap();
        }
    }
    for (owner, visibility) in [
        (Owner::new("t/1", "alice"), Visibility::Private),
        (Owner::organisation("t/1"), Visibility::Public),
        (Owner::agent("t/1", "a%/b"), Visibility::Public),
    ] {
        let memory = Memory { owner: owner.unwrap(), visibility, ..note("alice", "m", "x") };
        store.store(memory, vec![], &write()).await.unwrap();
    }
}

pub(crate) async fn all_of_a_store_is_carried_to_another_and_back(store: &dyn MemoryStore) {
    fill(store).await;
    let expected = all(store, None, 1000).await;
    assert_eq!(expected.len(), 1 + Status::ALL.len() + 1 + 7 * 6 + 3);
    let carried = expected.iter().find(|whole| whole.memory.id == id("full")).unwrap();
    assert_eq!((carried.memory.version, carried.history.len()), (5, 2));
    assert_eq!((carried.memory.access_count, carried.memory.last_accessed_at), (8, Some(at(5))));
    assert_eq!(carried.memory.structured, Some(json!(null)));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memories.db");
    let sqlite = SqliteStore::open(&file, SqliteOptions::default()).unwrap();
    let others: [&dyn MemoryStore; 2] = [&InMemoryStore::new(), &sqlite];
    for other in others {
        carry(store, other).await;
        assert_eq!(all(other, None, 1000).await, expected);
        store.clear(&write()).await.unwrap();
        carry(other, store).await;
        assert_eq!(all(store, None, 1000).await, expected);
    }
    sqlite.close().await;
    // Both the memory and its history can be found.
    let found = store.retrieve(&near("alice", [1.0, 0.0, 0.0, 0.0])).await.unwrap();
    assert_eq!(sorted(&found), ["active", "full", "review"]);
    assert_eq!(sorted(&store.retrieve(&words("alice", "two")).await.unwrap()), ["full"]);
    let history = store.history(&owner("alice"), &id("full")).await.unwrap();
    assert_eq!(history.iter().map(|version| version.version).collect::<Vec<_>>(), [5, 4, 3]);
    let spoken = Filter::Entity("ana o'brien".into());
    let search = Search { filter: Some(spoken), ..search("alice") };
    assert_eq!(ids(&store.retrieve(&search).await.unwrap()), ["full"]);
}

pub(crate) async fn a_memory_is_written_once_however_often_it_is_brought(store: &dyn MemoryStore) {
    fill(store).await;
    let before = all(store, None, 1000).await;
    for whole in before.clone() {
        assert_eq!(store.restore(whole, &write()).await.unwrap(), Restored::Same);
    }
    let full = before.iter().find(|whole| whole.memory.id == id("full")).unwrap();
    // Without vectors it is still the same memory, and nothing is lost.
    let bare = Whole { vectors: vec![], ..full.clone() };
    assert_eq!(store.restore(bare, &write()).await.unwrap(), Restored::Same);
    let turned = Whole { vectors: vec![embedding(0, [0.0, 1.0, 0.0, 0.0])], ..full.clone() };
    let shorter = Whole { history: full.history[1..].to_vec(), ..full.clone() };
    let mut other = full.clone();
    other.memory.content.push('!');
    for whole in [turned, shorter, other] {
        assert_eq!(store.restore(whole, &write()).await.unwrap(), Restored::Differs);
    }
    assert_eq!(all(store, None, 1000).await, before);
    store.forget(&owner("alice"), &id("full"), &write()).await.unwrap();
    let mut fine = full.clone();
    fine.vectors.reverse();
    fine.memory.created_at += SignedDuration::from_nanos(999);
    assert_eq!(store.restore(fine.clone(), &write()).await.unwrap(), Restored::Written);
    assert_eq!(store.restore(fine, &write()).await.unwrap(), Restored::Same);
    assert_eq!(all(store, None, 1000).await, before, "times are kept to the microsecond");
}

pub(crate) async fn a_scan_meets_all_of_one_owner_and_nothing_else(store: &dyn MemoryStore) {
    fill(store).await;
    let everything = all(store, None, 1000).await;
    for limit in [1, 3] {
        assert_eq!(all(store, None, limit).await, everything);
    }
    let owners: BTreeSet<Owner> =
        everything.iter().map(|whole| whole.memory.owner.clone()).collect();
    for owner in owners {
        let expected: Vec<_> =
            everything.iter().filter(|whole| whole.memory.owner == owner).cloned().collect();
        assert_eq!(all(store, Some(&owner), 1).await, expected);
        assert_eq!(all(store, Some(&owner), 1000).await, expected);
    }
    assert!(all(store, Some(&owner("nobody")), 1).await.is_empty());
}

pub(crate) async fn a_scan_goes_on_while_memories_come_and_go(store: &dyn MemoryStore) {
    let stays: Vec<String> = (0..10).map(|n| format!("stays {n}")).collect();
    for name in &stays {
        store.store(note("alice", name, "x"), vec![], &write()).await.unwrap();
        store.store(note("alice", &format!("goes {name}"), "x"), vec![], &write()).await.unwrap();
    }
    for owner in [Some(owner("alice")), None] {
        let (mut met, mut after) = (Vec::new(), None::<String>);
        loop {
            let scan = store.scan(owner.as_ref(), after.as_deref(), 3).await.unwrap();
            met.extend(scan.found);
            after = scan.next;
            if after.is_none() {
                break;
            }
            // The last one found is deleted too: a cursor need not refer to an existing memory.
            let last = met.last().unwrap().memory.id.clone();
            if last.as_str().starts_with("goes") {
                store.forget(&crate::conformance::owner("alice"), &last, &write()).await.unwrap();
            }
            for name in [format!("goes {}", met.len()), format!("a {}", met.len())] {
                let _ = store.store(note("alice", &name, "x"), vec![], &write()).await;
            }
            let memory = &met[0].memory;
            if let Ok(memory) = store.get(&memory.owner, &memory.id, now()).await {
                let memory = Memory { content: "changed".into(), ..memory };
                store.update(memory, None, &write()).await.unwrap();
            }
        }
        let mut kept = names(&met);
        kept.retain(|name| name.starts_with("stays"));
        kept.sort_unstable();
        assert_eq!(kept, stays);
    }
}

pub(crate) async fn a_scan_from_nowhere_is_refused(store: &dyn MemoryStore) {
    for name in ["a", "b"] {
        store.store(note("alice", name, "x"), vec![], &write()).await.unwrap();
        store.store(note("bob", name, "x"), vec![], &write()).await.unwrap();
    }
    let hers = store.scan(Some(&owner("alice")), None, 1).await.unwrap().next.unwrap();
    for (whose, after) in [(None, ""), (None, "x"), (Some(owner("bob")), &*hers)] {
        let refused = store.scan(whose.as_ref(), Some(after), 1).await;
        assert!(matches!(refused, Err(StoreError::Invalid { field: "after", .. })), "{refused:?}");
    }
}

pub(crate) async fn what_cannot_be_a_whole_is_refused_by_field(store: &dyn MemoryStore) {
    let version = |version| Memory { version, ..note("alice", "m", "x") };
    let history = |history| Whole { history, ..whole(version(3)) };
    let empty = Memory { content: String::new(), ..version(1) };
    let vectors = vec![embedding(1, [1.0, 0.0, 0.0, 0.0])];
    let often = Memory { access_count: u64::MAX, ..version(1) };
    for (refused, field) in [
        (whole(version(0)), "version"),
        (whole(empty.clone()), "content"),
        (whole(often), "access_count"),
        (Whole { vectors, ..whole(version(1)) }, "vectors"),
        (history(vec![version(2), version(1)]), "history"),
        (history(vec![version(1), version(1)]), "history"),
        (history(vec![version(3)]), "history"),
        (history(vec![note("bob", "m", "x")]), "history"),
        (history(vec![note("alice", "n", "x")]), "history"),
        (history(vec![empty]), "history"),
    ] {
        let answer = store.restore(refused, &write()).await;
        assert!(
            matches!(answer, Err(StoreError::Invalid { field: named, .. }) if named == field),
            "{field}: {answer:?}"
        );
    }
    assert!(all(store, None, 10).await.is_empty());
    let gap = history(vec![version(2)]);
    assert_eq!(store.restore(gap, &write()).await.unwrap(), Restored::Written);
}
