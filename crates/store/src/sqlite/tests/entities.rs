//! Tests of the entity tables: migration of an older file, and cleanup.

use rusqlite::Connection;

use crate::sqlite::tests::*;
use memgate_text::entity::{EntityRelation, Mention};

fn mention(name: &str) -> Mention {
    Mention { name: name.into(), kind: None }
}

/// Number of rows of the three tables.
fn rows(store: &SqliteStore) -> [i64; 3] {
    let other = Connection::open(store.database.file()).unwrap();
    ["entities", "mentions", "entity_relations"].map(|table| {
        other.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    })
}

fn naming(name: &str) -> Search {
    Search { filter: Some(Filter::Entity(name.into())), vector: None, text: None, ..search("") }
}

/// A file of schema version 1, with one memory that has a history.
fn first_version(file: &Path) {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch(schema::MIGRATIONS[0].sql).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    let members = "owner, id, type, visibility, source, status, importance, version, access_count, \
        created_at, updated_at, tags, metadata, relations, provenance, actor, reason, content";
    let values = |version: u32, content: &str| {
        format!(
            "'default/alice', 'm', 'semantic', '{{\"kind\":\"private\"}}', 'explicit_user_input', \
             'active', 0.5, {version}, 0, 0, 0, '[\"t\"]', '{{}}', '[]', '{{}}', 'api', 'test', \
             '{content}'"
        )
    };
    connection
        .execute_batch(&format!(
            "INSERT INTO memories ({members}, terms) VALUES ({}, X'00'); \
             INSERT INTO versions (memory, {members}) VALUES (1, {}); \
             INSERT INTO spaces (name) VALUES ('{SPACE}'); \
             INSERT INTO vectors VALUES (1, 1, 0, X'0000803F000000000000000000000000');",
            values(2, "my cat"),
            values(1, "my dog"),
        ))
        .unwrap();
}

#[tokio::test]
async fn a_file_of_the_first_version_is_migrated() {
    let folder = tempfile::tempdir().unwrap();
    first_version(&folder.path().join("memories.db"));
    let store = open(folder.path(), SqliteOptions::default());
    let id = MemoryId::from_outside("m");
    let found = store.retrieve(&search("cat")).await.unwrap();
    assert_eq!((found[0].cosine, found[0].memory.tags.len()), (Some(1.0), 1));
    let history = store.history(&owner(), &id).await.unwrap();
    assert_eq!(history.iter().map(|m| &*m.content).collect::<Vec<_>>(), ["my cat", "my dog"]);
    assert!(history.iter().all(|m| m.mentions.is_empty() && m.entity_relations.is_empty()));
    assert!(store.retrieve(&naming("Minka")).await.unwrap().is_empty());
    let named = Memory { mentions: vec![mention("Minka")], ..history[0].clone() };
    let named = store.update(named, None, &write()).await.unwrap();
    assert_eq!(store.retrieve(&naming("minka")).await.unwrap()[0].memory, named);
    assert_eq!(store.history(&owner(), &id).await.unwrap()[1..], history);
    store.close().await;
}

#[tokio::test]
async fn an_entity_is_removed_with_its_last_mention() {
    let (store, folder) = fresh(SqliteOptions::default()).await;
    let relation = EntityRelation {
        subject: "ana".into(),
        predicate: "sister_of".into(),
        object: "Zephyrine".into(),
    };
    let mut one = note("one", "x");
    one.mentions = vec![mention("Ana"), mention("ANA"), mention("Lyon")];
    one.entity_relations = vec![relation.clone(), relation];
    let one = store.store(one, vec![], &write()).await.unwrap();
    let two = Memory { mentions: vec![mention("ana")], ..note("two", "x") };
    store.store(two, vec![], &write()).await.unwrap();
    assert_eq!(rows(&store), [3, 4, 1]);
    let mut changed = one.clone();
    changed.mentions.pop();
    store.update(changed, None, &write()).await.unwrap();
    assert_eq!(rows(&store), [2, 3, 1], "nobody speaks of Lyon");
    store.forget(&owner(), &MemoryId::from_outside("one"), &write()).await.unwrap();
    assert_eq!(rows(&store), [1, 1, 0], "the other still speaks of Ana");
    for name in ["Zephyrine", "zephyrine", "sister_of", "Lyon", "lyon"] {
        assert!(!on_disk(folder.path(), name), "{name}");
    }
    store.forget(&owner(), &MemoryId::from_outside("two"), &write()).await.unwrap();
    assert_eq!(rows(&store), [0, 0, 0]);
    store.close().await;
}

#[tokio::test]
async fn owners_do_not_share_entities() {
    let (store, _folder) = fresh(SqliteOptions::default()).await;
    for user in ["alice", "bob"] {
        let owner = Owner::of_user(user).unwrap();
        let memory = Memory { owner, mentions: vec![mention("Ana")], ..note("m", "x") };
        store.store(memory, vec![], &write()).await.unwrap();
    }
    assert_eq!(rows(&store), [2, 2, 0]);
    let all = ForgetScope { owner: owner(), project_id: None };
    store.forget_by_scope(&all, &write()).await.unwrap();
    assert_eq!(rows(&store), [1, 1, 0]);
    store.clear(&write()).await.unwrap();
    assert_eq!(rows(&store), [0, 0, 0]);
    store.close().await;
}
