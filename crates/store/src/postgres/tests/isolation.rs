//! Row-level security, the second wall between owners; and what deletions leave behind.

use crate::postgres::tests::*;

const TABLES: [&str; 4] = ["memories", "versions", "vectors", "owners"];

/// A store with a memory of alice that has an earlier version and a vector.
async fn with_memory_of_alice() -> (PostgresStore, MutexGuard<'static, ()>) {
    let (store, alone) = super::store(1 << 20).await;
    let memory = store.store(note("alice", "m", "cat"), vec![], &write()).await.unwrap();
    store.update(memory, Some(east()), &write()).await.unwrap();
    (store, alone)
}

/// Number of rows that a statement without any condition sees.
async fn seen(transaction: &Transaction, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    transaction.query_once(&sql, &[]).await.unwrap()[0].get(0)
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_transaction_sees_only_the_rows_of_its_owner() {
    let (store, _alone) = with_memory_of_alice().await;
    for (whose, expected) in
        [("default/alice", 1), ("default/bob", 0), ("", 0), ("default/ALICE", 0), (EVERYBODY, 1)]
    {
        let transaction = store.begin(Mode::Read, whose).await.unwrap();
        for table in TABLES {
            assert_eq!(seen(&transaction, table).await, expected, "{whose} in {table}");
        }
        transaction.end();
    }
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_transaction_cannot_write_rows_of_another_owner() {
    let (store, _alone) = with_memory_of_alice().await;
    for sql in [
        "INSERT INTO owners VALUES ('default/alice', 1)",
        "INSERT INTO vectors SELECT 'default/alice', 1, 1, 0, '[1]' FROM spaces LIMIT 1",
    ] {
        let transaction = store.begin(Mode::Write, "default/bob").await.unwrap();
        let refused = transaction.batch(sql).await;
        assert!(matches!(refused, Err(Fault::Forbidden)), "{refused:?}");
    }
    let transaction = store.begin(Mode::Write, "default/bob").await.unwrap();
    for table in TABLES {
        transaction.batch(&format!("DELETE FROM {table}")).await.unwrap();
    }
    transaction.commit().await.unwrap();
    assert_eq!(rows(&store).await, 4, "nothing of alice was deleted");
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_reader_sees_what_is_shared_with_the_user_or_a_role_and_changes_nothing() {
    let (store, _alone) = super::store(1 << 20).await;
    let to = |users: &[&str], roles: &[&str]| {
        let [users, roles] =
            [users, roles].map(|names| names.iter().map(|&name| name.to_owned()).collect());
        Visibility::Shared { users, roles }
    };
    for (id, visibility) in [
        ("private", Visibility::Private),
        ("to bob", to(&["bob"], &[])),
        ("to hr", to(&[], &["hr"])),
        ("public", Visibility::Public),
    ] {
        let memory = Memory { visibility, ..note("alice", id, "cat") };
        store.store(memory, east(), &write()).await.unwrap();
    }
    for (tenant, user, roles, expected) in [
        ("default", "bob", &[][..], 2),
        ("default", "bob", &["dev", "hr"], 3),
        ("default", "carol", &["hr"], 2),
        ("default", "bo", &["h", "bob"], 1),
        ("other", "bob", &["hr"], 0),
    ] {
        let owner = Owner::new(tenant, user).unwrap();
        let roles: Vec<String> = roles.iter().map(|&role| role.to_owned()).collect();
        let transaction = store.begin(Mode::Write, "").await.unwrap();
        transaction.act_for_reader(&Reader { owner, roles, agent: None }).unwrap();
        for (table, seen_of_it) in
            [("memories", expected), ("vectors", expected), ("versions", 0), ("owners", 0)]
        {
            assert_eq!(seen(&transaction, table).await, seen_of_it, "{user} in {table}");
        }
        for table in TABLES {
            transaction.batch(&format!("DELETE FROM {table}")).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }
    assert_eq!(rows(&store).await, 9, "four memories, their vectors, and their owner");
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn without_an_owner_and_in_a_partition_nothing_is_seen() {
    let (store, _alone) = with_memory_of_alice().await;
    let port = server();
    let plain = connect(port, "memgate", "memgate").await;
    let set = format!("SET search_path = {}, public", store.settings.schema);
    plain.batch_execute(&set).await.unwrap();
    for table in TABLES {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(plain.query_one(&count, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
    }
    let transaction = store.begin(Mode::Read, EVERYBODY).await.unwrap();
    for table in &TABLES[..3] {
        for partition in 0..store.settings.partitions {
            assert_eq!(seen(&transaction, &format!("{table}_{partition}")).await, 0);
        }
    }
    transaction.end();
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_row_of_another_owner_is_withheld() {
    let (store, _alone) = with_memory_of_alice().await;
    let transaction = store.begin(Mode::Read, EVERYBODY).await.unwrap();
    let all = concat!("SELECT ", rows::columns!(), " FROM memories");
    let found = transaction.query(all, &[]).await.unwrap();
    assert!(rows::memory(&found[0], &owner("alice")).is_ok());
    let error = rows::memory(&found[0], &owner("bob")).unwrap_err().to_string();
    assert!(error.contains("owner"), "{error}");
    transaction.end();
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn what_is_forgotten_leaves_no_row() {
    let (store, _alone) = with_memory_of_alice().await;
    assert_eq!(rows(&store).await, 4);
    let other = Memory { project_id: Some("p".into()), ..note("alice", "other", "dog") };
    store.store(other, east(), &write()).await.unwrap();
    let id = MemoryId::from_outside("m");
    assert_eq!(store.forget(&owner("alice"), &id, &write()).await.unwrap(), 1);
    assert_eq!(rows(&store).await, 3, "the other memory, its vector, and its owner");
    let scope = ForgetScope { owner: owner("alice"), project_id: Some("p".into()) };
    assert_eq!(store.forget_by_scope(&scope, &write()).await.unwrap(), 1);
    assert_eq!(rows(&store).await, 0, "not even that there was an alice");
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_forgotten_owner_who_returns_finds_nothing_old() {
    let (store, _alone) = super::store(1 << 20).await;
    let words = |text: &str| Search { text: Some(text.into()), vector: None, ..near("alice") };
    for round in 0..5 {
        let (old, new) = (format!("cat{}", round - 1), format!("cat{round}"));
        store.store(note("alice", "m", &new), vec![], &write()).await.unwrap();
        assert!(store.retrieve(&words(&old)).await.unwrap().is_empty());
        assert_eq!(store.retrieve(&words(&new)).await.unwrap().len(), 1);
        let all = ForgetScope { owner: owner("alice"), project_id: None };
        assert_eq!(store.forget_by_scope(&all, &write()).await.unwrap(), 1);
    }
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn another_memgate_sees_every_write_at_once() {
    let (one, _alone) = super::store(1 << 20).await;
    let other = PostgresStore::open(one.settings.clone()).await.unwrap();
    for content in ["cat", "dog", "cat"] {
        let id = MemoryId::from_outside("m");
        match one.get(&owner("alice"), &id, Timestamp::UNIX_EPOCH).await {
            Ok(memory) => {
                let memory = Memory { content: content.into(), ..memory };
                one.update(memory, Some(east()), &write()).await.unwrap();
            }
            Err(_) => {
                one.store(note("alice", "m", content), east(), &write()).await.unwrap();
            }
        }
        for store in [&one, &other] {
            let found = store.retrieve(&near("alice")).await.unwrap();
            assert_eq!(found[0].memory.content, content);
            assert_eq!(found[0].lexical.unwrap().bm25 > 0.0, content == "cat");
        }
    }
    for store in [one, other] {
        store.close().await;
    }
}
