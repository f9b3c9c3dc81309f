//! The stores beside each other: how fast many writers fill them, how long a search of one user
//! takes, and how much of that is the server's own client.
//!
//! `MEMGATE_TEST_MILVUS=HOST:PORT` brings Milvus in, `MEMGATE_TEST_POSTGRES=HOST:PORT` PostgreSQL
//! (role and database `memgate`); `STORE_USERS` and `STORE_MEMORIES` set the size, 10,000 users and
//! 100,000 memories unless told otherwise. It prints the table of docs/stores.md. Milvus takes the most time: it writes
//! some hundred memories a second.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may panic, and prints")]

use std::{
    collections::HashMap,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use memgate_core::{
    clock::Clock,
    memory::{
        Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, QueryVector, Reader,
        ScopeQuery, Search, SharedScope, Source, Visibility, Within, Write,
    },
};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_store::{
    InMemoryStore, MilvusSettings, MilvusStore, PostgresSettings, PostgresStore, SqliteOptions,
    SqliteStore, UnreadableRows,
};
use milvus::v2::{
    ClientV2,
    request::dql::SearchRequest,
    types::{ConnectConfig, ConsistencyLevel, MetricType, SearchVectors, TelemetryConfig},
};

/// Memories written at one time.
const WRITERS: usize = 16;
/// Searches measured, after a tenth as many that are not.
const SEARCHES: usize = 500;
/// Memories of the organisation, in the searches of what others share.
const SHARED: usize = 1_000;
/// Searches of what others share measured, in the same way.
const SHARED_SEARCHES: usize = 200;
const COLLECTION: &str = "bench_stores";

struct Bench {
    users: usize,
    memories: usize,
    embedder: DeterministicEmbedder,
    space: Arc<str>,
}

impl Bench {
    async fn memory(&self, number: usize) -> (Memory, Vec<Embedding>) {
        let (user, place) = (number % self.users, number / self.users);
        let text =
            format!("Meeting {place} of user {user} is about the budget of project {number}");
        let values = self.embedder.embed_query(&text).await.unwrap();
        let vector = Embedding { space: self.space.clone(), part: 0, values };
        let kind = MemoryType::new(MemoryType::SEMANTIC);
        let (source, now) = (Source::ExplicitUserInput, Timestamp::UNIX_EPOCH);
        let memory = Memory::new(MemoryId::fresh(), owner(user), kind, text, source, now);
        (memory, vec![vector])
    }

    /// Searches of the users' own memories and of what others share: nothing, then so many memories of the organisation, by
    /// users who have not searched since the last change, and by the same ones.
    async fn shared(&self, name: &str, store: &dyn MemoryStore) {
        let times = self.searches(store, true).await;
        row(&format!("{name}, own and shared, nothing shared"), None, &times, None);
        let of_organisation = |memory: Memory| {
            let owner = Owner::organisation(Owner::DEFAULT_TENANT).unwrap();
            Memory { owner, visibility: Visibility::Public, ..memory }
        };
        self.write(store, SHARED, of_organisation).await;
        for when in ["first", "again"] {
            let times = self.searches(store, true).await;
            row(&format!("{name}, own and {SHARED} shared, {when}"), None, &times, None);
        }
    }

    /// Fills a store; memories a second.
    async fn fill(&self, store: &dyn MemoryStore) -> f64 {
        let begun = Instant::now();
        self.write(store, self.memories, |memory| memory).await;
        rate(self.memories, begun.elapsed())
    }

    async fn write(
        &self,
        store: &dyn MemoryStore,
        count: usize,
        change: impl Fn(Memory) -> Memory,
    ) {
        let change = &change;
        stream::iter(0..count)
            .for_each_concurrent(WRITERS, async |number| {
                let (memory, vectors) = self.memory(number).await;
                let write = Write::by(Actor::Api, "bench");
                store.store(change(memory), vectors, &write).await.unwrap();
            })
            .await;
    }

    async fn search(&self, number: usize, shared: bool) -> Search {
        // Another user each time, far from the last.
        let user = (number * 7919) % self.users;
        let query = format!("what is meeting 3 of user {user} about");
        let values = self.embedder.embed_query(&query).await.unwrap();
        let reader = Reader { owner: owner(user), roles: Vec::new(), agent: None };
        let scope = SharedScope { reader, projects: Within::All, types: Vec::new() };
        Search {
            scopes: vec![ScopeQuery::of(owner(user))],
            shared: shared.then_some(scope),
            filter: None,
            vector: Some(QueryVector { space: self.space.clone(), values }),
            text: Some(query),
            limit: 20,
            now: Timestamp::UNIX_EPOCH,
        }
    }

    async fn searches(&self, store: &dyn MemoryStore, shared: bool) -> Times {
        let searches = if shared { SHARED_SEARCHES } else { SEARCHES };
        let mut times = Vec::with_capacity(searches);
        for number in 0..searches + searches / 10 {
            let search = self.search(number, shared).await;
            let begun = Instant::now();
            let found = black_box(store.retrieve(&search).await.unwrap());
            times.push(begun.elapsed());
            assert!(!found.is_empty());
        }
        Times::of(times.split_off(searches / 10))
    }

    /// The nearest vectors by one call of PostgreSQL's client, and how the server finds them.
    async fn bare_postgres(&self, host: &str, port: &str) -> (Times, String) {
        let target = format!("host={host} port={port} user=memgate dbname=memgate");
        let (client, connection) =
            tokio_postgres::connect(&target, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let set = format!("SET search_path = {COLLECTION}, public; SET memgate.owner = '*'");
        client.batch_execute(&set).await.unwrap();
        let nearest = "SELECT memory, part FROM vectors WHERE owner = $1 \
             ORDER BY coordinates <#> $2::real[]::vector LIMIT 20";
        let statement = client.prepare(nearest).await.unwrap();
        let mut times = Vec::with_capacity(SEARCHES);
        for number in 0..SEARCHES + SEARCHES / 10 {
            let search = self.search(number, false).await;
            let (owner, values) = (search.scopes[0].owner.key(), search.vector.unwrap().values);
            let begun = Instant::now();
            black_box(client.query(&statement, &[&owner, &&values[..]]).await.unwrap());
            times.push(begun.elapsed());
        }
        let plan = "EXPLAIN SELECT memory FROM vectors WHERE owner = 'default/user1'";
        let plan = client.query(plan, &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        (Times::of(times.split_off(SEARCHES / 10)), plan.join("\n"))
    }

    /// The same vectors by one call of Milvus' client, which gives the keys of the nearest.
    async fn bare(&self, client: &ClientV2, level: ConsistencyLevel) -> Times {
        // A strong read waits for the server's clock each time.
        let searches = if level == ConsistencyLevel::Strong { SEARCHES / 10 } else { SEARCHES };
        let mut times = Vec::with_capacity(searches);
        for number in 0..searches + searches / 10 {
            let search = self.search(number, false).await;
            let owner = search.scopes[0].owner.key();
            let request = SearchRequest::builder()
                .collection_name(format!("{COLLECTION}_vectors"))
                .vector_field("vector")
                .vectors(SearchVectors::Float(vec![search.vector.unwrap().values.to_vec()]))
                .filter(format!("owner == \"{owner}\""))
                .limit(20)
                .metric_type(MetricType::Cosine)
                .extra_params(HashMap::from([("ef".to_owned(), "64".to_owned())]))
                .consistency_level(level)
                .build()
                .unwrap();
            let begun = Instant::now();
            black_box(client.search(request).await.unwrap());
            times.push(begun.elapsed());
        }
        Times::of(times.split_off(searches / 10))
    }
}

struct Times {
    median: Duration,
    p99: Duration,
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { median: times[times.len() / 2], p99: times[times.len() * 99 / 100] }
    }
}

fn owner(user: usize) -> Owner {
    Owner::of_user(&format!("user-{user}")).unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "a number of memories")]
fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

/// A row of the table; `bare` is what the client alone takes.
fn row(name: &str, rate: Option<f64>, times: &Times, bare: Option<&Times>) {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let rate = rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate:.0}"));
    let own = bare.map(|bare| ms(times.median) - ms(bare.median));
    let own = own.map_or_else(|| "–".to_owned(), |own| format!("{own:.2}"));
    println!("| {name} | {rate} | {:.2} | {:.2} | {own} |", ms(times.median), ms(times.p99));
}

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().unwrap())
}

#[tokio::main]
async fn main() {
    let embedder = DeterministicEmbedder::new(384);
    let space: Arc<str> = embedder.space().id().into();
    let users = number("STORE_USERS", 10_000);
    let bench = Bench { users, memories: number("STORE_MEMORIES", 100_000), embedder, space };
    println!("{} memories of {} users, {WRITERS} writers", bench.memories, bench.users);
    println!(
        "| store | writes per second | search P50, ms | P99, ms | P50 over the client's call, ms |"
    );
    println!("|---|---|---|---|---|");

    let store = InMemoryStore::new();
    let rate = bench.fill(&store).await;
    row("in memory", Some(rate), &bench.searches(&store, false).await, None);
    drop(store);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memories.db");
    let store = SqliteStore::open(&file, SqliteOptions::default()).unwrap();
    let rate = bench.fill(&store).await;
    row("SQLite", Some(rate), &bench.searches(&store, false).await, None);
    bench.shared("SQLite", &store).await;
    store.close().await;

    if let Ok(address) = std::env::var("MEMGATE_TEST_MILVUS") {
        milvus(&bench, address).await;
    }
    if let Ok(address) = std::env::var("MEMGATE_TEST_POSTGRES") {
        postgres(&bench, &address).await;
    }
}

async fn postgres(bench: &Bench, address: &str) {
    let (host, port) = address.rsplit_once(':').unwrap();
    let settings = PostgresSettings {
        host: host.to_owned(),
        port: port.parse().unwrap(),
        tls: None,
        user: "memgate".to_owned(),
        password: None,
        database: "memgate".to_owned(),
        schema: COLLECTION.to_owned(),
        partitions: 16,
        connections: 8,
        connect_timeout: Duration::from_secs(10),
        timeout: Duration::from_secs(60),
        cache_bytes: 0,
        unreadable: UnreadableRows::default(),
    };
    let store = PostgresStore::open(settings.clone()).await.unwrap();
    store.clear(&Write::by(Actor::Api, "bench")).await.unwrap();
    let rate = bench.fill(&store).await;
    let (bare, plan) = bench.bare_postgres(host, port).await;
    row("PostgreSQL, vector search of its client alone", None, &bare, None);
    let times = bench.searches(&store, false).await;
    row("PostgreSQL, no words cached", Some(rate), &times, Some(&bare));
    store.close().await;
    let cached = PostgresSettings { cache_bytes: 256 << 20, ..settings };
    let store = PostgresStore::open(cached).await.unwrap();
    bench.searches(&store, false).await;
    let times = bench.searches(&store, false).await;
    row("PostgreSQL, words cached", None, &times, Some(&bare));
    bench.shared("PostgreSQL", &store).await;
    println!("{plan}");
    store.clear(&Write::by(Actor::Api, "bench")).await.unwrap();
    store.close().await;
}

async fn milvus(bench: &Bench, address: String) {
    let uri = format!("http://{address}");
    let telemetry = TelemetryConfig::new().enabled(false);
    let client = ClientV2::new(&ConnectConfig::new().uri(uri).telemetry(telemetry)).await.unwrap();
    let settings = MilvusSettings {
        address,
        tls: None,
        token: None,
        database: String::new(),
        collection: COLLECTION.to_owned(),
        space: bench.space.to_string(),
        dimension: 384,
        reindexing: false,
        partitions: 64,
        hnsw_m: 16,
        ef_construction: 128,
        connect_timeout: Duration::from_secs(10),
        timeout: Duration::from_secs(60),
        attempts: 2,
        staleness: Duration::from_secs(5),
        clock: Clock::System,
        unreadable: UnreadableRows::default(),
    };
    let store = MilvusStore::open(settings).await.unwrap();
    store.check().await.unwrap();
    store.clear(&Write::by(Actor::Api, "bench")).await.unwrap();
    let rate = bench.fill(&store).await;
    // What was just written is laid over the answers; let it be only Milvus'.
    tokio::time::sleep(Duration::from_secs(11)).await;
    let bare = bench.bare(&client, ConsistencyLevel::Bounded).await;
    row("Milvus, vector search of its client alone", None, &bare, None);
    for (name, level) in [
        ("the same, Session consistency", ConsistencyLevel::Session),
        ("the same, Strong consistency", ConsistencyLevel::Strong),
    ] {
        row(name, None, &bench.bare(&client, level).await, None);
    }
    row("Milvus", Some(rate), &bench.searches(&store, false).await, Some(&bare));
    bench.shared("Milvus", &store).await;
    store.clear(&Write::by(Actor::Api, "bench")).await.unwrap();
    store.close().await;
}
