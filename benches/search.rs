//! One search in SQLite over a user's 100 memories: with the user in the cache, and read from the file (whose pages
//! the operating system has).
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use memgate_core::memory::{
    Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, QueryVector, ScopeQuery,
    Search, Source, Write,
};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_store::{SqliteOptions, SqliteStore};

const MEMORIES: usize = 100;
const USERS: usize = 50;

async fn fill(store: &SqliteStore, embedder: &DeterministicEmbedder) {
    let space: Arc<str> = embedder.space().id().into();
    for number in 0..MEMORIES {
        for user in 0..USERS {
            let text = format!("The meeting number {number} of user {user} is about the budget");
            let values = embedder.embed_query(&text).await.unwrap();
            let vector = Embedding { space: Arc::clone(&space), part: 0, values };
            let memory = Memory::new(
                MemoryId::fresh(),
                owner(user),
                MemoryType::new(MemoryType::SEMANTIC),
                text,
                Source::ExplicitUserInput,
                Timestamp::UNIX_EPOCH,
            );
            store.store(memory, vec![vector], &Write::by(Actor::Api, "bench")).await.unwrap();
        }
    }
}

fn owner(user: usize) -> Owner {
    Owner::of_user(&format!("user-{user}")).unwrap()
}

fn search(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let embedder = DeterministicEmbedder::new(384);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memories.db");
    let warm = SqliteStore::open(&file, SqliteOptions::default()).unwrap();
    runtime.block_on(fill(&warm, &embedder));
    let query = "what is meeting number 42 about";
    let vector = QueryVector {
        space: embedder.space().id().into(),
        values: runtime.block_on(embedder.embed_query(query)).unwrap(),
    };
    let ask = |user| Search {
        scopes: vec![ScopeQuery::of(owner(user))],
        shared: None,
        filter: None,
        vector: Some(vector.clone()),
        text: Some(query.to_owned()),
        limit: 20,
        now: Timestamp::UNIX_EPOCH,
    };
    let mut group = c.benchmark_group("search 100 memories");
    group.bench_function("user in the cache", |b| {
        let search = ask(7);
        b.iter(|| runtime.block_on(warm.retrieve(black_box(&search))).unwrap());
    });
    // A cache too small for anyone.
    let options = SqliteOptions { cache_bytes: 1, ..SqliteOptions::default() };
    let cold = SqliteStore::open(&file, options).unwrap();
    group.bench_function("user read from the file", |b| {
        let mut user = 0;
        b.iter(|| {
            user = (user + 1) % USERS;
            runtime.block_on(cold.retrieve(black_box(&ask(user)))).unwrap()
        });
    });
    group.finish();
    runtime.block_on(async {
        cold.close().await;
        warm.close().await;
    });
}

criterion_group!(benches, search);
criterion_main!(benches);
