mod damage;
mod entities;

use std::{fs, path::Path};

use crate::{
    conformance::{SEQUENCES, conforms},
    sqlite::*,
};
use memgate_core::memory::{
    Actor, MemoryType, QueryVector, Reader, SharedScope, Source, Visibility, Within,
};

const SPACE: &str = "test/4/mean";

async fn fresh(options: SqliteOptions) -> (SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (open(folder.path(), options), folder)
}

fn open(folder: &Path, options: SqliteOptions) -> SqliteStore {
    SqliteStore::open(&folder.join("memories.db"), options).unwrap()
}

conforms!(fresh(SqliteOptions::default()), SEQUENCES);

/// Without cache space, every search reads the file.
mod uncached {
    use super::*;

    conforms!(fresh(SqliteOptions { cache_bytes: 0, ..SqliteOptions::default() }), SEQUENCES);
}

fn owner() -> Owner {
    Owner::of_user("alice").unwrap()
}

fn note(name: &str, content: &str) -> Memory {
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    Memory::new(
        MemoryId::from_outside(name),
        owner(),
        kind,
        content,
        Source::ExplicitUserInput,
        now,
    )
}

fn write() -> Write {
    Write::by(Actor::Api, "test")
}

fn vector(values: [f32; 4]) -> Vec<Embedding> {
    vec![Embedding { space: SPACE.into(), part: 0, values: values.into() }]
}

fn search(text: &str) -> Search {
    Search {
        scopes: vec![ScopeQuery::of(owner())],
        shared: None,
        filter: None,
        vector: Some(QueryVector { space: SPACE.into(), values: [1.0, 0.0, 0.0, 0.0].into() }),
        text: Some(text.into()),
        limit: 10,
        now: "2026-03-02T12:00:00Z".parse().unwrap(),
    }
}

/// Whether any file of a folder contains these bytes.
fn on_disk(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|file| {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn acknowledged_writes_survive_a_restart() {
    let (store, folder) = fresh(SqliteOptions::default()).await;
    let memory =
        store.store(note("m", "cat"), vector([1.0, 0.0, 0.0, 0.0]), &write()).await.unwrap();
    let memory = store.update(memory, None, &write()).await.unwrap();
    let before = store.retrieve(&search("cat")).await.unwrap();
    let history = store.history(&owner(), &memory.id).await.unwrap();
    store.close().await;
    let store = open(folder.path(), SqliteOptions::default());
    assert_eq!(store.retrieve(&search("cat")).await.unwrap(), before);
    assert_eq!(store.history(&owner(), &memory.id).await.unwrap(), history);
    store.close().await;
}

#[tokio::test]
async fn forgotten_memories_are_in_no_file_and_stay_gone() {
    let (store, folder) = fresh(SqliteOptions::default()).await;
    let secret = "Schnurri-the-cat";
    let one = store.store(note("m", secret), vec![], &write()).await.unwrap();
    let changed = Memory { content: "no more".into(), raw: Some(secret.into()), ..one };
    store.update(changed, None, &write()).await.unwrap();
    store.store(note("other", "stays"), vec![], &write()).await.unwrap();
    assert!(on_disk(folder.path(), secret));
    assert_eq!(store.forget(&owner(), &MemoryId::from_outside("m"), &write()).await.unwrap(), 1);
    assert!(!on_disk(folder.path(), secret), "answered, so it is gone");
    assert!(on_disk(folder.path(), "stays"));
    store.close().await;
    let store = open(folder.path(), SqliteOptions::default());
    assert_eq!(store.retrieve(&search(secret)).await.unwrap().len(), 0);
    store.close().await;
}

#[tokio::test]
async fn a_forgotten_owner_who_returns_finds_nothing_old() {
    let (store, folder) = fresh(SqliteOptions::default()).await;
    for round in 0..5 {
        let (old, new) = (format!("cat{}", round - 1), format!("cat{round}"));
        store.store(note("m", &new), vec![], &write()).await.unwrap();
        assert!(store.retrieve(&search(&old)).await.unwrap().is_empty());
        assert_eq!(store.retrieve(&search(&new)).await.unwrap().len(), 1);
        let all = ForgetScope { owner: owner(), project_id: None };
        assert_eq!(store.forget_by_scope(&all, &write()).await.unwrap(), 1);
        assert!(!on_disk(folder.path(), "default/alice"), "not even that there was an alice");
    }
    store.close().await;
}

#[tokio::test]
async fn readers_who_may_read_the_same_share_an_index_and_others_do_not() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    let to_hr = Visibility::Shared { users: Vec::new(), roles: vec!["hr".into()] };
    for (name, visibility) in [("a", Visibility::Public), ("b", to_hr)] {
        let memory = Memory { visibility, ..note(name, "cat") };
        store.store(memory, vector([1.0, 0.0, 0.0, 0.0]), &write()).await.unwrap();
    }
    for (user, roles, found, indexes) in
        [("bob", &[][..], 1, 1), ("carol", &["dev"], 1, 1), ("dan", &["hr"], 2, 2)]
    {
        let roles = roles.iter().map(|role: &&str| (*role).to_owned()).collect();
        let reader = Reader { owner: Owner::of_user(user).unwrap(), roles, agent: None };
        let scope = SharedScope { reader, projects: Within::All, types: Vec::new() };
        let search = Search { scopes: Vec::new(), shared: Some(scope), ..search("cat") };
        assert_eq!(store.retrieve(&search).await.unwrap().len(), found);
        assert_eq!(store.cache.indexes.len(), indexes);
    }
    store.close().await;
}

#[tokio::test]
async fn changes_by_another_connection_are_seen() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    store.store(note("m", "cat"), vector([1.0, 0.0, 0.0, 0.0]), &write()).await.unwrap();
    assert_eq!(store.retrieve(&search("cat")).await.unwrap()[0].cosine, Some(1.0));
    let other = rusqlite::Connection::open(store.database.file()).unwrap();
    other.execute("UPDATE vectors SET coordinates = zeroblob(16)", []).unwrap();
    assert_eq!(store.retrieve(&search("cat")).await.unwrap()[0].cosine, Some(0.0));
    other.execute("UPDATE memories SET status = 'archived'", []).unwrap();
    assert!(store.retrieve(&search("cat")).await.unwrap().is_empty());
    store.close().await;
}

#[tokio::test]
async fn an_owner_with_too_many_vectors_to_cache_can_be_searched() {
    let (store, _folder) =
        fresh(SqliteOptions { cache_bytes: 40_000, ..SqliteOptions::default() }).await;
    for n in 0..40_u8 {
        // Long vectors of a space that is not searched.
        let mut vectors = vec![0.0; 256];
        vectors[usize::from(n)] = 1.0;
        let vectors = vec![Embedding { space: "long".into(), part: 0, values: vectors.into() }];
        store.store(note(&format!("m{n}"), "cat"), vectors, &write()).await.unwrap();
    }
    let mut values = vec![0.0; 256];
    values[7] = 1.0;
    let vector = Some(QueryVector { space: "long".into(), values: values.into() });
    for _ in 0..2 {
        let search = Search { vector: vector.clone(), limit: 1, text: None, ..search("") };
        let found = store.retrieve(&search).await.unwrap();
        assert_eq!((found[0].memory.id.as_str(), found[0].cosine), ("m7", Some(1.0)));
    }
    store.close().await;
}

#[tokio::test]
async fn a_row_of_another_owner_is_withheld() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    store.store(note("m", "cat"), vec![], &write()).await.unwrap();
    let owner = Owner::of_user("bob").unwrap();
    let read = move |c: &mut rusqlite::Connection| {
        let sql = format!("SELECT {} FROM memories", rows::COLUMNS);
        c.query_row(&sql, [], |row| rows::memory(row, &owner))
    };
    let error = store.read(read).await.unwrap_err().to_string();
    assert!(error.contains("owner"), "{error}");
    store.close().await;
}

#[tokio::test]
async fn a_full_disk_is_reported_and_reads_still_work() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    store.store(note("m", "cat"), vec![], &write()).await.unwrap();
    let limit = |c: &mut rusqlite::Connection| {
        let pages: i64 = c.pragma_query_value(None, "page_count", |row| row.get(0))?;
        c.pragma_update(None, "max_page_count", pages + 1)
    };
    store.write(limit).await.unwrap();
    let error =
        store.store(note("large", &"x".repeat(100_000)), vec![], &write()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(error.to_string().contains("no space left"), "{error}");
    assert_eq!(store.retrieve(&search("cat")).await.unwrap().len(), 1);
    assert!(store.get(&owner(), &MemoryId::from_outside("large"), search("").now).await.is_err());
    store.close().await;
}

#[tokio::test]
async fn refuses_a_file_of_a_newer_version() {
    let (store, folder) = fresh(SqliteOptions::default()).await;
    store.close().await;
    let file = folder.path().join("memories.db");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    drop(other);
    let error = SqliteStore::open(&file, SqliteOptions::default()).err().unwrap().to_string();
    assert!(error.contains("memories.db: has schema version 99"), "{error}");
}

#[tokio::test]
async fn backfill_continues_after_its_mark() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    for n in 0..5 {
        store
            .store(note(&format!("m{n}"), "x"), vector([1.0, 0.0, 0.0, 0.0]), &write())
            .await
            .unwrap();
    }
    assert!(store.unembedded(SPACE, 10).await.unwrap().is_empty());
    // If the first rows were examined again, this one would be found.
    let file = store.database.file().to_owned();
    let other = rusqlite::Connection::open(file).unwrap();
    other
        .execute_batch("DROP TRIGGER vector_removed; DELETE FROM vectors WHERE memory = 1")
        .unwrap();
    store.store(note("late", "x"), vec![], &write()).await.unwrap();
    let missing = store.unembedded(SPACE, 10).await.unwrap();
    assert_eq!(missing.iter().map(|m| m.id.as_str()).collect::<Vec<_>>(), ["late"]);
    store.close().await;
}
