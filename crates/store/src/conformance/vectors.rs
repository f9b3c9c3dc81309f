//! Embedding spaces, and embedding of memories without vectors.

use crate::conformance::*;
use memgate_core::memory::{MemoryStore, Status, StoreError};

const EAST: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

fn in_space(space: &str, values: &[f32]) -> Embedding {
    Embedding { space: space.into(), part: 0, values: values.into() }
}

async fn missing(store: &dyn MemoryStore, space: &str, limit: usize) -> Vec<String> {
    let missing = store.unembedded(space, limit).await.unwrap();
    missing.into_iter().map(|memory| memory.id.as_str().to_owned()).collect()
}

pub(crate) async fn other_spaces_and_dimensions_do_not_compare(store: &dyn MemoryStore) {
    store.store(note("alice", "same", "x"), vec![embedding(0, EAST)], &write()).await.unwrap();
    let both = vec![in_space("other", &[1.0, 0.0]), embedding(0, EAST)];
    store.store(note("alice", "both", "x"), both, &write()).await.unwrap();
    store
        .store(note("alice", "other", "x"), vec![in_space("other", &[1.0, 0.0])], &write())
        .await
        .unwrap();
    let ask = |space: &str, values: &[f32]| Search {
        vector: Some(QueryVector { space: space.into(), values: values.into() }),
        ..search("alice")
    };
    for (space, values, expected) in [
        (SPACE, &EAST[..], &["both", "same"][..]),
        ("other", &[1.0, 0.0], &["both", "other"]),
        ("unknown", &[1.0, 0.0], &[]),
        ("other", &EAST, &[]),
        (SPACE, &[1.0, 0.0], &[]),
    ] {
        let found = store.retrieve(&ask(space, values)).await.unwrap();
        assert_eq!(sorted(&found), expected, "{space}");
    }
}

pub(crate) async fn memories_without_a_vector_are_found_and_back_filled(store: &dyn MemoryStore) {
    assert!(missing(store, SPACE, 10).await.is_empty());
    for (n, (user, name)) in
        [("alice", "a"), ("bob", "b"), ("alice", "c"), ("alice", "d")].into_iter().enumerate()
    {
        let memory = Memory { created_at: at(n.try_into().unwrap()), ..note(user, name, "cat") };
        let vectors = if name == "c" { vec![embedding(0, EAST)] } else { vec![] };
        store.store(memory, vectors, &write()).await.unwrap();
    }
    let quarantined =
        Memory { status: Status::Quarantined, created_at: at(9), ..note("alice", "q", "x") };
    let quarantined = store.store(quarantined, vec![], &write()).await.unwrap();
    assert_eq!(missing(store, SPACE, 10).await, ["a", "b", "d"]);
    assert_eq!(missing(store, SPACE, 2).await, ["a", "b"]);
    assert_eq!(sorted(&store.retrieve(&words("alice", "cat")).await.unwrap()), ["a", "c", "d"]);
    // Another version, another owner's, or deleted: skipped.
    store.embed(&owner("alice"), &id("a"), 2, vec![embedding(0, EAST)]).await.unwrap();
    store.embed(&owner("bob"), &id("a"), 1, vec![embedding(0, EAST)]).await.unwrap();
    assert_eq!(missing(store, SPACE, 10).await, ["a", "b", "d"]);
    for (user, name) in [("alice", "a"), ("bob", "b"), ("alice", "d")] {
        store.embed(&owner(user), &id(name), 1, vec![embedding(0, EAST)]).await.unwrap();
    }
    assert!(missing(store, SPACE, 10).await.is_empty());
    assert_eq!(sorted(&store.retrieve(&near("alice", EAST)).await.unwrap()), ["a", "c", "d"]);
    assert_eq!(store.get(&owner("alice"), &id("a"), now()).await.unwrap().version, 1);
    // A memory that is in use again needs vectors too.
    let released = Memory { status: Status::Active, ..quarantined };
    store.update(released, None, &write()).await.unwrap();
    assert_eq!(missing(store, SPACE, 10).await, ["q"]);
}

pub(crate) async fn a_new_space_is_back_filled_beside_the_old(store: &dyn MemoryStore) {
    for name in ["a", "b"] {
        store.store(note("alice", name, "x"), vec![embedding(0, EAST)], &write()).await.unwrap();
    }
    assert!(missing(store, SPACE, 10).await.is_empty());
    assert_eq!(missing(store, "new", 10).await.len(), 2);
    let new = vec![in_space("new", &[0.0, 1.0])];
    store.embed(&owner("alice"), &id("a"), 1, new).await.unwrap();
    assert_eq!(missing(store, "new", 10).await, ["b"]);
    assert_eq!(store.retrieve(&near("alice", EAST)).await.unwrap().len(), 2);
    // With fewer parts than before, no old part remains.
    let two = vec![embedding(0, [0.0, 1.0, 0.0, 0.0]), embedding(1, [0.0, 0.0, 1.0, 0.0])];
    store.embed(&owner("alice"), &id("a"), 1, two).await.unwrap();
    store.embed(&owner("alice"), &id("a"), 1, vec![embedding(0, EAST)]).await.unwrap();
    let found = store.retrieve(&near("alice", [0.0, 0.0, 1.0, 0.0])).await.unwrap();
    assert!(found.iter().all(|evidence| evidence.cosine.unwrap().abs() < 1e-6), "{found:?}");
}

pub(crate) async fn changed_content_loses_its_old_vectors(store: &dyn MemoryStore) {
    let vectors = vec![embedding(0, EAST), in_space("other", &[1.0, 0.0])];
    let memory = store.store(note("alice", "m", "one"), vectors, &write()).await.unwrap();
    assert!(missing(store, SPACE, 10).await.is_empty());
    let same = Memory { importance: 1.0, ..memory };
    let same = store.update(same, None, &write()).await.unwrap();
    assert_eq!(store.retrieve(&near("alice", EAST)).await.unwrap().len(), 1);
    let changed = Memory { content: "two".into(), ..same };
    let changed = store.update(changed, None, &write()).await.unwrap();
    assert!(store.retrieve(&near("alice", EAST)).await.unwrap().is_empty());
    assert_eq!(
        (missing(store, SPACE, 10).await, missing(store, "other", 10).await),
        (vec!["m".into()], vec!["m".into()])
    );
    let given = Memory { content: "three".into(), ..changed };
    store.update(given, Some(vec![embedding(0, EAST)]), &write()).await.unwrap();
    assert_eq!(store.retrieve(&near("alice", EAST)).await.unwrap().len(), 1);
    assert_eq!(
        (missing(store, SPACE, 10).await.len(), missing(store, "other", 10).await.len()),
        (0, 1)
    );
}

pub(crate) async fn a_memory_names_its_spaces_once_each(store: &dyn MemoryStore) {
    let vectors = vec![embedding(0, EAST), embedding(1, EAST), in_space("other", &[1.0, 0.0])];
    store.store(note("alice", "both", "x"), vectors, &write()).await.unwrap();
    store.store(note("alice", "none", "x"), vec![], &write()).await.unwrap();
    assert_eq!(store.spaces(&owner("alice"), &id("both")).await.unwrap(), ["other", SPACE]);
    assert!(store.spaces(&owner("alice"), &id("none")).await.unwrap().is_empty());
    for (user, name) in [("bob", "both"), ("alice", "unknown")] {
        let unknown = store.spaces(&owner(user), &id(name)).await;
        assert!(matches!(unknown, Err(StoreError::NotFound)), "{unknown:?}");
    }
}
