//! Recall on a store: what it never presents, and what it finds beside the nearest.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{Hit, Query, Recall, Request, Terms, Touches};
use crate::{
    config::{QueryConfig, RankingConfig},
    embed::{Embedder, deterministic::DeterministicEmbedder},
    memory::{
        Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Mention, Owner, Source,
        Status, Write,
    },
    store::InMemoryStore,
    telemetry::Metrics,
};

struct Stack {
    store: Arc<dyn MemoryStore>,
    embedder: Arc<dyn Embedder>,
    recall: Recall,
    metrics: Arc<Metrics>,
    now: Timestamp,
}

impl Stack {
    fn new() -> Self {
        let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
        let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(64));
        let metrics = Metrics::new();
        let (touches, _) = Touches::new(store.clone());
        let recall = Recall::new(store.clone(), embedder.clone(), touches, metrics.clone());
        Self { store, embedder, recall, metrics, now: Timestamp::now() }
    }

    async fn remember(&self, content: &str, change: impl FnOnce(&mut Memory)) {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            owner(),
            MemoryType::new(MemoryType::SEMANTIC),
            content,
            Source::ExplicitUserInput,
            self.now,
        );
        change(&mut memory);
        let values = self.embedder.embed_query(content).await.unwrap();
        let vector = Embedding { space: self.embedder.space().id().into(), part: 0, values };
        self.store.store(memory, vec![vector], &Write::by(Actor::Api, "t")).await.unwrap();
    }

    async fn search(&self, query: &str, ranking: &RankingConfig, terms: &Terms) -> Vec<Hit> {
        let owner = owner();
        let query = Query::of(query, self.now, &QueryConfig::default());
        let request = Request {
            owner: &owner,
            project_id: None,
            query: &query,
            read: None,
            said: &[],
            terms,
            ranking,
            filter: None,
            forgotten: &[],
            now: self.now,
            deadline: Instant::now() + Duration::from_secs(60),
        };
        self.recall.search(&request).await.unwrap()
    }
}

fn owner() -> Owner {
    Owner::of_user("u").unwrap()
}

fn contents(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

#[tokio::test]
async fn what_holds_no_longer_or_has_expired_is_not_found_whatever_the_threshold() {
    let stack = Stack::new();
    stack.remember("I live in Lyon now", |_| {}).await;
    stack.remember("I live in Rome", |it| it.status = Status::Superseded).await;
    stack.remember("I live in a hotel", |it| it.expires_at = Some(stack.now)).await;
    stack.remember("I live on Mars", |it| it.status = Status::Quarantined).await;
    let soon = stack.now + SignedDuration::from_secs(60);
    stack.remember("I live with Ana", |it| it.expires_at = Some(soon)).await;
    let terms = Terms { limit: 50, threshold: 0.0, types: Vec::new() };
    let hits = stack.search("Where do I live?", &RankingConfig::default(), &terms).await;
    let mut found = contents(&hits);
    found.sort_unstable();
    assert_eq!(found, ["I live in Lyon now", "I live with Ana"]);
}

#[tokio::test]
async fn what_mentions_a_name_of_the_query_is_found_though_others_are_nearer() {
    let stack = Stack::new();
    for number in 0..90 {
        stack.remember(&format!("what does she like, number {number}"), |_| {}).await;
    }
    let mentions = vec![Mention { name: "Ana Li".into(), kind: None }];
    stack.remember("Tulips are her favourite", |it| it.mentions = mentions).await;
    let terms = Terms { limit: 5, threshold: 0.0, types: Vec::new() };
    let query = "what does Ana Li like";
    let ranking = |fetch_entities, entity| {
        let mut ranking = RankingConfig { fetch_entities, ..RankingConfig::default() };
        ranking.weights.entity = entity;
        ranking
    };
    let tulips = |hits: &[Hit]| contents(hits).contains(&"Tulips are her favourite");
    assert!(!tulips(&stack.search(query, &ranking(false, 100.0), &terms).await));
    let hits = stack.search(query, &ranking(true, 100.0), &terms).await;
    assert_eq!(contents(&hits)[0], "Tulips are her favourite");
    assert_eq!(hits[0].parts.added.entity, 100.0);
    let told = stack.metrics.encode();
    let found = "memgate_ranking_hits_total{step=\"entity_fetch\"} 1";
    assert!(told.contains(found), "{told}");
}
