//! Tests of the entity tables.

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
