//! Pitfalls of Milvus that the store must hide: each test fails without its workaround.

use std::time::Instant;

use crate::milvus::{
    rows::{Kind, RecordRows, Stored},
    tests::*,
};
use memgate_core::memory::{MemoryType, QueryVector, Source};

const MILVUS: &str = "MEMGATE_TEST_MILVUS";

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
    let values = [1.0, 0.0, 0.0, 0.0].into();
    vec![Embedding { space: "test/4/mean".into(), part: 0, values }]
}

fn near(user: &str, limit: usize) -> Search {
    Search {
        scopes: vec![ScopeQuery::of(owner(user))],
        shared: None,
        filter: None,
        vector: Some(QueryVector {
            space: "test/4/mean".into(),
            values: [1.0, 0.0, 0.0, 0.0].into(),
        }),
        text: None,
        limit,
        now: Timestamp::UNIX_EPOCH,
    }
}

/// Number of rows in Milvus, of all owners, in records and vectors.
async fn rows(store: &MilvusStore) -> usize {
    let session = store.link.session().unwrap();
    let mut collections = session.all_vectors().await.unwrap();
    collections.push(session.names.records().to_owned());
    let mut rows = 0;
    for collection in collections {
        let strong = ConsistencyLevel::Strong;
        let found = session.server.query(&collection, "pk != \"\"", &[], strong, |_| Ok(())).await;
        rows += found.unwrap().len();
    }
    rows
}

/// Milvus 2.3.5 puts upserted rows into a wrong partition, where their owner's searches and deletes
/// miss them.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn repeated_changes_stay_in_the_owners_partition() {
    let (store, _alone) = store(MILVUS, &SERVER).await;
    for user in ["one", "two", "three"] {
        for name in 0..10 {
            let memory = note(user, &format!("m{name}"), "x");
            let mut memory = store.store(memory, east(), &write()).await.unwrap();
            for content in ["y", "z"] {
                memory.content = content.into();
                memory = store.update(memory, Some(east()), &write()).await.unwrap();
            }
        }
    }
    for user in ["one", "two", "three"] {
        let everything = ForgetScope { owner: owner(user), project_id: None };
        assert_eq!(store.retrieve(&near(user, 50)).await.unwrap().len(), 10, "{user}");
        assert_eq!(
            store.history(&owner(user), &MemoryId::from_outside("m3")).await.unwrap().len(),
            3
        );
        assert_eq!(store.forget_by_scope(&everything, &write()).await.unwrap(), 10);
    }
    assert_eq!(rows(&store).await, 0, "nothing may be left of those who are forgotten");
}

/// A field holds 65,535 bytes of UTF-8.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn texts_longer_than_a_field_round_trip_and_are_deleted_completely() {
    let (store, _alone) = store(MILVUS, &SERVER).await;
    for (name, length) in [("fits", 21_845), ("over", 21_846), ("far", 300_000)] {
        let content = "界".repeat(length);
        let mut memory = note("long", name, &content);
        memory.raw = Some("é\"\\\n".repeat(20_000));
        let stored = store.store(memory, east(), &write()).await.unwrap();
        let id = MemoryId::from_outside(name);
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(store.get(&owner("long"), &id, now).await.unwrap(), stored, "{name}");
        // Bypasses the overlay: the rows in Milvus.
        let scan = store.scan(Some(&owner("long")), None, 10).await.unwrap();
        let found = scan.found.into_iter().find(|whole| whole.memory.id == id);
        assert_eq!(found.map(|whole| whole.memory), Some(stored), "{name}");
        assert_eq!(store.forget(&owner("long"), &id, &write()).await.unwrap(), 1);
        assert_eq!(rows(&store).await, 0, "{name}");
    }
}

/// Without transactions, a kill can happen between the new state and the removal of the old one.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn the_later_of_two_states_wins_and_both_are_deleted() {
    let (store, _alone) = store(MILVUS, &SERVER).await;
    let memory = store.store(note("torn", "m", "old"), east(), &write()).await.unwrap();
    let session = store.link.session().unwrap();
    let known = store
        .known(&session, &memory.owner, &memory.id, ConsistencyLevel::Strong)
        .await
        .unwrap()
        .unwrap();
    let newer = Memory { content: "new".into(), version: 2, ..memory.clone() };
    let mut torn = RecordRows::default();
    let spaces = known.stored.spaces.clone();
    let revision = known.stored.revision + 1;
    torn.push(Kind::Current, &Stored { memory: newer.clone(), revision, spaces }).unwrap();
    session.server.insert(session.names.records(), torn.columns()).await.unwrap();
    store.overlay.clear();
    session.server.read_strongly_for(Duration::from_secs(60));
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(store.get(&memory.owner, &memory.id, now).await.unwrap(), newer);
    let found = store.retrieve(&near("torn", 5)).await.unwrap();
    assert_eq!(found.iter().map(|it| &*it.memory.content).collect::<Vec<_>>(), ["new"]);
    assert_eq!(store.forget(&memory.owner, &memory.id, &write()).await.unwrap(), 1);
    assert_eq!(rows(&store).await, 0);
}

/// By default the client tries 75 times and waits forever.
#[tokio::test]
async fn operations_fail_at_once_while_the_server_is_unavailable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let settings =
        MilvusSettings { connect_timeout: Duration::from_secs(1), ..settings(address, "nowhere") };
    let begun = Instant::now();
    let store = MilvusStore::open(settings).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(!store.is_enabled());
    let begun = Instant::now();
    for _ in 0..100 {
        let failed = store.retrieve(&near("nobody", 1)).await.unwrap_err();
        assert!(matches!(failed, StoreError::Unavailable(_)), "{failed}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    store.close().await;
}

/// Vectors of different models must not be compared.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn refuses_a_collection_of_another_model_or_dimension_or_of_an_earlier_memgate() {
    let (store, _alone) = store(MILVUS, &SERVER).await;
    let same = settings(server(MILVUS), "suite");
    for (space, dimension) in [("other/4/mean", 4), ("test/4/mean", 5)] {
        let other = MilvusSettings { space: space.into(), dimension, ..same.clone() };
        let refusal = MilvusStore::open(other).await.err().unwrap();
        let told = refusal.to_string();
        assert!(told.contains("from test/4/mean with dimension 4"), "{told}");
        assert!(told.contains("memgate reindex"), "{told}");
    }
    // Its fields are others than those of this memgate's records.
    let collection = store.link.session().unwrap().names.vectors("test/4/mean");
    let earlier = MilvusSettings { collection: collection.clone(), ..same.clone() };
    let refusal = MilvusStore::open(earlier).await.err();
    assert_eq!(refusal, Some(MilvusRefusal::Earlier(collection)));
    MilvusStore::open(same).await.unwrap().close().await;
    store.close().await;
}

/// Bounded reads miss the latest writes; strong ones wait for them.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn a_new_process_sees_the_latest_writes_of_others() {
    let (store, _alone) = store(MILVUS, &SERVER).await;
    for n in 0..5 {
        let begun = MilvusSettings {
            staleness: Duration::from_secs(60),
            ..settings(server(MILVUS), "suite")
        };
        let id = format!("m{n}");
        let opening = MilvusStore::open(begun).await.unwrap();
        store.store(note("other", &id, "x"), east(), &write()).await.unwrap();
        let found = opening.retrieve(&near("other", 50)).await.unwrap();
        assert_eq!(found.len(), n + 1);
        opening.close().await;
    }
}

/// Another model's vectors are created beside those in use, which are searched until the end.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn a_new_model_is_switched_to_in_one_step_after_embedding() {
    let _alone = SERVER.lock().await;
    let old = settings(server(MILVUS), "reindex");
    let new = MilvusSettings { space: "new/2/mean".into(), dimension: 2, ..old.clone() };
    let live = MilvusStore::open(old.clone()).await.unwrap();
    live.check().await.unwrap();
    for name in ["a", "b"] {
        live.store(note("moved", name, "x"), east(), &write()).await.unwrap();
    }
    let beside = MilvusSettings { reindexing: true, ..new.clone() };
    let beside = MilvusStore::open(beside).await.unwrap();
    let missing = beside.unembedded("new/2/mean", 10).await.unwrap();
    assert_eq!(missing.len(), 2);
    for memory in missing {
        let values = [0.0, 1.0].into();
        let vectors = vec![Embedding { space: "new/2/mean".into(), part: 0, values }];
        beside.embed(&memory.owner, &memory.id, 1, vectors).await.unwrap();
        assert_eq!(live.retrieve(&near("moved", 5)).await.unwrap().len(), 2);
    }
    assert!(MilvusStore::open(new.clone()).await.is_err(), "the old vectors are still in use");
    beside.use_space("new/2/mean").await.unwrap();
    assert!(MilvusStore::open(old).await.is_err(), "the new vectors are in use");
    let after = MilvusStore::open(new).await.unwrap();
    let vector = Some(QueryVector { space: "new/2/mean".into(), values: [0.0, 1.0].into() });
    let found = after.retrieve(&Search { vector, ..near("moved", 5) }).await.unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|it| it.cosine.unwrap() > 0.99), "{found:?}");
    for store in [live, beside, after] {
        store.close().await;
    }
}

/// The caller of a write may stop waiting; the write arrives anyway, without being recorded here.
#[tokio::test]
#[ignore = "needs a Milvus server: MEMGATE_TEST_MILVUS"]
async fn an_abandoned_write_is_seen_by_the_next_one() {
    let (store, _alone) = store(MILVUS, &SERVER).await;
    let session = store.link.session().unwrap();
    for n in 0..20 {
        let memory = note("hasty", &format!("m{n}"), "x");
        let write = write();
        let given_up = store.store(memory.clone(), east(), &write);
        let _ = tokio::time::timeout(Duration::from_millis(n), given_up).await;
        let kept = store.overlay.one(&memory.owner, &memory_key(&memory.owner, &memory.id));
        let strong = session.server.consistency() == ConsistencyLevel::Strong;
        if kept.is_none() && !strong {
            let (owner, id, strong) = (&memory.owner, &memory.id, ConsistencyLevel::Strong);
            let there = store.known(&session, owner, id, strong).await.unwrap();
            assert!(there.is_none(), "{n}: it is there, and reads of every day would miss it");
        }
        // Repeated, as a job would: the memory is stored once.
        match store.store(memory, east(), &write).await {
            Ok(_) | Err(StoreError::Exists) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(store.retrieve(&near("hasty", 50)).await.unwrap().len(), 20);
    let everything = ForgetScope { owner: owner("hasty"), project_id: None };
    assert_eq!(store.forget_by_scope(&everything, &write()).await.unwrap(), 20);
    assert_eq!(rows(&store).await, 0);
}
