//! Failures, how they are reported, and that they pass.

use std::time::Instant;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::postgres::tests::*;

/// A database of its own for one test, as its administrator makes it.
struct Database {
    admin: tokio_postgres::Client,
    settings: PostgresSettings,
}

impl Database {
    /// Creates a role and a database of the same name. `options` are those of `CREATE DATABASE`.
    async fn new(name: &str, options: &str) -> Self {
        let port = server();
        let name = unique(name);
        let admin = connect(port, "postgres", "postgres").await;
        for sql in [
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("DROP ROLE IF EXISTS {name}"),
            format!("CREATE ROLE {name} LOGIN"),
            format!("CREATE DATABASE {name} OWNER {name} {options}"),
        ] {
            admin.batch_execute(&sql).await.unwrap();
        }
        let settings = PostgresSettings {
            user: name.clone(),
            database: name,
            schema: "memgate".into(),
            partitions: 2,
            ..settings(port, "")
        };
        Self { admin, settings }
    }

    async fn alter(&self, what: &str) {
        let name = &self.settings.database;
        self.admin.batch_execute(&what.replace("NAME", name)).await.unwrap();
    }

    /// Ends the sessions of memgate's role.
    async fn disconnect(&self) {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1";
        self.admin.query(end, &[&self.settings.user]).await.unwrap();
    }

    async fn remove(self, store: Option<PostgresStore>) {
        if let Some(store) = store {
            store.close().await;
        }
        self.alter("DROP DATABASE NAME WITH (FORCE)").await;
        self.alter("DROP ROLE NAME").await;
    }
}

async fn get(store: &PostgresStore) -> Result<Memory, StoreError> {
    store.get(&owner("alice"), &MemoryId::from_outside("m"), Timestamp::UNIX_EPOCH).await
}

/// A transaction of another program that locks the memories.
async fn lock(store: &PostgresStore) -> tokio_postgres::Client {
    let PostgresSettings { port, user, database, schema, .. } = &store.settings;
    let other = connect(*port, user, database).await;
    let lock = format!("BEGIN; LOCK TABLE {schema}.memories IN ACCESS EXCLUSIVE MODE");
    other.batch_execute(&lock).await.unwrap();
    other
}

/// Waits until this many sessions wait for the lock.
async fn waiting_for(other: &tokio_postgres::Client, sessions: i64) {
    let count = "SELECT count(*) FROM pg_stat_activity \
         WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))";
    // A transaction keeps the list of sessions that it saw first.
    let anew = "SELECT pg_stat_clear_snapshot()";
    while other.query_one(count, &[]).await.unwrap().get::<_, i64>(0) != sessions {
        tokio::task::yield_now().await;
        other.batch_execute(anew).await.unwrap();
    }
}

#[tokio::test]
async fn operations_fail_at_once_while_the_server_is_unavailable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let store = PostgresStore::open(settings(port, "nowhere")).await.unwrap();
    assert!(!store.is_enabled());
    let begun = Instant::now();
    for _ in 0..100 {
        let failed = store.retrieve(&near("nobody")).await.unwrap_err();
        assert!(matches!(failed, StoreError::Unavailable(_)), "{failed}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let failed = store.check().await.unwrap_err();
    assert_eq!(failed.to_string(), "store unavailable: cannot connect to PostgreSQL");
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_search_that_nobody_waits_for_ends_in_the_database() {
    let (store, _alone) = super::store(0).await;
    store.store(note("alice", "m", "cat"), east(), &write()).await.unwrap();
    let other = lock(&store).await;
    let connections = store.settings.connections;
    for _ in 0..connections * 2 {
        let search = near("alice");
        let searching = store.retrieve(&search);
        tokio::select! {
            found = searching => panic!("{found:?}"),
            () = waiting_for(&other, 1) => {}
        }
        waiting_for(&other, 0).await;
    }
    other.batch_execute("COMMIT").await.unwrap();
    let searches = (0..connections * 2).map(|_| async { store.retrieve(&near("alice")).await });
    assert!(
        join_all(searches).await.into_iter().all(|found| found.is_ok()),
        "all connections work"
    );
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn an_abandoned_write_is_undone_or_complete() {
    let (store, _alone) = super::store(0).await;
    for n in 0..20 {
        let memory = note("hasty", &format!("m{n}"), "x");
        let write = write();
        let given_up = store.store(memory.clone(), east(), &write);
        let _ = timeout(Duration::from_micros(n * 300), given_up).await;
        // Repeated, as a job would: the memory is stored once.
        match store.store(memory, east(), &write).await {
            Ok(_) | Err(StoreError::Exists) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let counts = ScopeQuery::of(owner("hasty"));
    let counts = store.count(&counts, None, SPACE, Timestamp::UNIX_EPOCH).await.unwrap();
    assert_eq!((counts.total, counts.embedded), (20, 20));
    store.close().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_statement_that_takes_too_long_is_a_busy_store() {
    let (store, _alone) = super::store(0).await;
    let impatient =
        PostgresSettings { timeout: Duration::from_millis(100), ..store.settings.clone() };
    let impatient = PostgresStore::open(impatient).await.unwrap();
    let other = lock(&store).await;
    let failed = get(&impatient).await.unwrap_err();
    assert!(matches!(failed, StoreError::Busy(_)), "{failed}");
    other.batch_execute("COMMIT").await.unwrap();
    let found = get(&impatient).await;
    assert!(matches!(found, Err(StoreError::NotFound)), "{found:?}");
    for store in [store, impatient] {
        store.close().await;
    }
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn while_all_connections_are_in_use_the_store_is_busy() {
    let (store, _alone) = super::store(0).await;
    let narrow = PostgresSettings {
        connections: 1,
        connect_timeout: Duration::from_millis(500),
        ..store.settings.clone()
    };
    let narrow = PostgresStore::open(narrow).await.unwrap();
    let held = narrow.begin(Mode::Read, EVERYBODY).await.unwrap();
    let failed = get(&narrow).await.unwrap_err();
    assert!(matches!(failed, StoreError::Busy(_)), "{failed}");
    held.end();
    assert!(matches!(get(&narrow).await, Err(StoreError::NotFound)));
    for store in [store, narrow] {
        store.close().await;
    }
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_server_without_connections_left_is_unavailable_until_it_has_some() {
    let database = Database::new("full", "").await;
    let store = opened(database.settings.clone()).await;
    database.alter("ALTER ROLE NAME CONNECTION LIMIT 0").await;
    database.disconnect().await;
    // The first finds out that its connection is gone.
    let _ = get(&store).await;
    let failed = get(&store).await.unwrap_err();
    assert_eq!(failed.to_string(), "store unavailable: PostgreSQL has no connection left");
    assert!(store.check().await.is_err());
    database.alter("ALTER ROLE NAME CONNECTION LIMIT -1").await;
    store.check().await.unwrap();
    assert!(matches!(get(&store).await, Err(StoreError::NotFound)));
    database.remove(Some(store)).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_read_only_database_is_read_and_refuses_writes() {
    let database = Database::new("reads", "").await;
    let store = opened(database.settings.clone()).await;
    store.store(note("alice", "m", "cat"), east(), &write()).await.unwrap();
    store.close().await;
    database.alter("ALTER DATABASE NAME SET default_transaction_read_only = on").await;
    let store = PostgresStore::open(database.settings.clone()).await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.retrieve(&near("alice")).await.unwrap().len(), 1);
    let failed = store.store(note("alice", "n", "dog"), east(), &write()).await.unwrap_err();
    assert_eq!(failed.to_string(), "store unavailable: PostgreSQL allows only reads");
    store.check().await.unwrap();
    assert_eq!(get(&store).await.unwrap().content, "cat");
    database.remove(Some(store)).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn lost_connections_are_replaced() {
    let database = Database::new("lost", "").await;
    let store = opened(database.settings.clone()).await;
    store.store(note("alice", "m", "cat"), east(), &write()).await.unwrap();
    for _ in 0..3 {
        database.disconnect().await;
        let lost = get(&store).await;
        assert!(matches!(lost, Ok(_) | Err(StoreError::Unavailable(_))), "{lost:?}");
        assert_eq!(get(&store).await.unwrap().content, "cat");
    }
    database.remove(Some(store)).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn dropped_tables_are_made_again_by_a_check() {
    let database = Database::new("dropped", "").await;
    let store = opened(database.settings.clone()).await;
    store.store(note("alice", "m", "cat"), east(), &write()).await.unwrap();
    assert_eq!(store.retrieve(&near("alice")).await.unwrap().len(), 1);
    let PostgresSettings { port, user, database: name, .. } = &database.settings;
    let other = connect(*port, user, name).await;
    other.batch_execute("DROP SCHEMA memgate CASCADE").await.unwrap();
    let failed = store.retrieve(&near("alice")).await.unwrap_err();
    assert!(matches!(failed, StoreError::Unavailable(_)), "{failed}");
    store.check().await.unwrap();
    assert!(store.retrieve(&near("alice")).await.unwrap().is_empty());
    store.store(note("alice", "m", "dog"), east(), &write()).await.unwrap();
    assert_eq!(store.unembedded("other", 5).await.unwrap().len(), 1);
    database.remove(Some(store)).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn memgates_that_start_together_make_the_tables_once() {
    let database = Database::new("together", "").await;
    let starts = (0..4).map(|_| PostgresStore::open(database.settings.clone()));
    for store in join_all(starts).await {
        let store = store.unwrap();
        store.check().await.unwrap();
        store.close().await;
    }
    database.remove(None).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_database_that_cannot_be_used_is_refused_with_the_reason() {
    let bare = Database::new("bare", "TEMPLATE template0").await;
    let refusal = PostgresStore::open(bare.settings.clone()).await.err();
    assert_eq!(refusal, Some(PostgresRefusal::NoExtension));
    bare.remove(None).await;

    let options = "TEMPLATE template0 ENCODING 'SQL_ASCII'";
    let ascii = Database::new("ascii", options).await;
    let refusal = PostgresStore::open(ascii.settings.clone()).await.err();
    assert_eq!(refusal, Some(PostgresRefusal::Encoding("SQL_ASCII".into())));
    ascii.remove(None).await;

    let newer = Database::new("newer", "").await;
    opened(newer.settings.clone()).await.close().await;
    let PostgresSettings { port, user, database, .. } = &newer.settings;
    let other = connect(*port, user, database).await;
    other.batch_execute("INSERT INTO memgate.migrations VALUES (99, 'x')").await.unwrap();
    let refusal = PostgresStore::open(newer.settings.clone()).await.err();
    assert_eq!(refusal, Some(PostgresRefusal::Newer { found: 99, known: 1 }));
    newer.remove(None).await;

    let earlier = Database::new("earlier", "").await;
    opened(earlier.settings.clone()).await.close().await;
    let PostgresSettings { port, user, database, .. } = &earlier.settings;
    let other = connect(*port, user, database).await;
    other.batch_execute("DROP TABLE memgate.shared").await.unwrap();
    let refusal = PostgresStore::open(earlier.settings.clone()).await.err();
    assert_eq!(refusal, Some(PostgresRefusal::Earlier));
    earlier.remove(None).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_schema_of_any_name_is_created_and_used() {
    let database = Database::new("names", "").await;
    for schema in ["Upper Case", "semi;colon", "quo\"te'", "public"] {
        let settings = PostgresSettings { schema: schema.into(), ..database.settings.clone() };
        let store = opened(settings).await;
        store.store(note("alice", "m", "cat"), east(), &write()).await.unwrap();
        assert_eq!(store.retrieve(&near("alice")).await.unwrap().len(), 1, "{schema}");
        store.close().await;
    }
    database.remove(None).await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: MEMGATE_TEST_POSTGRES"]
async fn a_vector_that_pgvector_cannot_store_is_refused_by_field() {
    let (store, _alone) = super::store(0).await;
    let values = vec![0.0; search::MAX_DIMENSION + 1].into();
    let long = vec![Embedding { space: SPACE.into(), part: 0, values }];
    let refused = store.store(note("alice", "m", "cat"), long, &write()).await;
    assert!(matches!(refused, Err(StoreError::Invalid { field: "vectors", .. })), "{refused:?}");
    let strange = |values: Vec<f32>| Search {
        vector: Some(QueryVector { space: SPACE.into(), values: values.into() }),
        ..near("alice")
    };
    store.store(note("alice", "m", "cat"), east(), &write()).await.unwrap();
    for values in [vec![], vec![f32::NAN; 4], vec![0.0; search::MAX_DIMENSION + 1]] {
        let found = store.retrieve(&strange(values)).await.unwrap();
        assert_eq!((found.len(), found[0].cosine), (1, None), "found by its words alone");
    }
    store.close().await;
}
