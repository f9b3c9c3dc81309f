//! Ranking alone, over what a search finds for a user with 1,000 memories: from evidence to the memories presented,
//! by each way of fusion. Beside it the search that finds the evidence, and the ranking of all 1,000.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};

use memgate_core::memory::{
    Actor, Embedding, Evidence, Memory, MemoryId, MemoryStore, MemoryType, Owner, QueryVector,
    ScopeQuery, Search, Source, Write,
};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_models::Models;
use memgate_recall::{
    Fusion, Query, QueryConfig, Question, RankingConfig, Selection, rank, select,
};
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;
use memgate_text::entity::Mention;

const MEMORIES: usize = 1_000;
/// As recall asks a store for: of each kind of evidence.
const CANDIDATES: usize = 40;
const TURNS_OF_A_SESSION: usize = 20;
const QUERY: &str = "What did Ana say about the budget of the trip to Lisbon in March?";

/// A turn, or each fifth time a statement taken from one.
fn memory(number: usize, began: Timestamp) -> Memory {
    let about = ["the budget", "Lisbon", "a recipe", "her dog", "the train", "March", "a film"];
    let (one, other) = (about[number % 7], about[(number / 7) % 7]);
    let said = format!("Ana told me in message {number} about {one}, and then about {other} again");
    let turn = !number.is_multiple_of(5);
    let at = began + SignedDuration::from_mins(i64::try_from(number).unwrap());
    let kind = if turn { MemoryType::EPISODIC } else { MemoryType::SEMANTIC };
    let mut memory = Memory::new(
        MemoryId::derived(&["bench", &number.to_string()]),
        Owner::of_user("u").unwrap(),
        MemoryType::new(kind),
        &said,
        Source::ExplicitUserInput,
        at,
    );
    memory.session_id = Some((number / TURNS_OF_A_SESSION).to_string());
    memory.event_time = Some(at);
    memory.provenance.turn = Some(number.to_string());
    if turn {
        let reply = "I see, thank you. That is good to know for next time.";
        memory = memory.of_turn(said, Some(reply.to_owned()));
    } else {
        memory.mentions = vec![Mention { name: "Ana".into(), kind: Some("person".into()) }];
    }
    memory
}

fn ranking(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let embedder = DeterministicEmbedder::new(384);
    let space: Arc<str> = embedder.space().id().into();
    let store = InMemoryStore::default();
    let began = "2026-02-01T00:00:00Z".parse().unwrap();
    let now = began + SignedDuration::from_hours(24 * 30);
    runtime.block_on(async {
        for number in 0..MEMORIES {
            let memory = memory(number, began);
            let values = embedder.embed_query(&memory.content).await.unwrap();
            let vector = Embedding { space: Arc::clone(&space), part: 0, values };
            store.store(memory, vec![vector], &Write::by(Actor::Api, "bench")).await.unwrap();
        }
    });
    let values = runtime.block_on(embedder.embed_query(QUERY)).unwrap();
    let search = |limit| Search {
        scopes: vec![ScopeQuery::of(Owner::of_user("u").unwrap())],
        shared: None,
        filter: None,
        vector: Some(QueryVector { space: Arc::clone(&space), values: values.clone() }),
        text: Some(QUERY.to_owned()),
        limit,
        now,
    };
    let found = |limit| runtime.block_on(store.retrieve(&search(limit))).unwrap();
    let query = Query::of(QUERY, jiff::civil::Date::default(), &QueryConfig::default());
    let models = Models::for_embedder(embedder.space()).unwrap();
    let relevance = &models.relevance;
    let zone = &jiff::tz::TimeZone::UTC;
    let question =
        Question { text: QUERY, replies: false, asked: &query.asked, relevance, now, zone };
    // Everything passes: the selection has most to do.
    let selection = Selection { limit: 5, threshold: 0.01, types: Vec::new() };
    let metrics = Metrics::new();
    let all = |evidence: Vec<Evidence>, ranking: &RankingConfig| {
        select(rank(evidence, &question, ranking, &metrics), &selection, ranking, &metrics)
    };
    let mut group = c.benchmark_group("rank 1000 memories");
    let some = found(CANDIDATES);
    let name = format!("{} candidates", some.len());
    for fusion in [Fusion::Weighted, Fusion::Rrf] {
        let ranking = RankingConfig { fusion, ..RankingConfig::default() };
        group.bench_function(format!("{name}, {fusion:?}"), |b| {
            let evidence = || some.clone();
            b.iter_batched(evidence, |it| all(black_box(it), &ranking), BatchSize::SmallInput);
        });
    }
    let every = found(MEMORIES);
    group.bench_function(format!("{} candidates, Weighted", every.len()), |b| {
        let ranking = RankingConfig::default();
        let evidence = || every.clone();
        b.iter_batched(evidence, |it| all(black_box(it), &ranking), BatchSize::SmallInput);
    });
    group.finish();
}

criterion_group!(benches, ranking);
criterion_main!(benches);
