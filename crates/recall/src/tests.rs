//! Recall on a store: what it never presents, and what it finds beside the nearest.

pub(crate) mod growth;
mod shared;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::Date};

use crate::{
    AccessTracker, Hit, Query, QueryConfig, RankingConfig, Recall, Selection,
    request::tests::request,
};
use memgate_core::{
    clock::Clock,
    memory::{
        Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, Source, Status, Write,
    },
};
use memgate_embed::{
    EmbedError, Embedder, Run, Space, Vector, deterministic::DeterministicEmbedder,
    ensemble::EnsembleEmbedder,
};
use memgate_models::Models;
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;

/// Recall on a store. Access counts are not written.
pub(crate) fn recall_on(
    store: Arc<dyn MemoryStore>,
    embedder: Arc<dyn Embedder>,
    metrics: Arc<Metrics>,
) -> Recall {
    let (access, _) = AccessTracker::new(store.clone());
    let models = Models::for_embedder(embedder.space()).unwrap();
    Recall::new(store, embedder, models, access, metrics)
}

struct Stack {
    store: Arc<dyn MemoryStore>,
    embedder: Arc<dyn Embedder>,
    recall: Recall,
    metrics: Arc<Metrics>,
    now: Timestamp,
}

impl Stack {
    fn new() -> Self {
        Self::with(Arc::new(DeterministicEmbedder::new(64)))
    }

    fn with(embedder: Arc<dyn Embedder>) -> Self {
        let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
        let metrics = Metrics::new();
        let recall = recall_on(store.clone(), embedder.clone(), metrics.clone());
        Self { store, embedder, recall, metrics, now: Clock::System.now() }
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

    async fn search(
        &self,
        query: &str,
        ranking: &RankingConfig,
        selection: &Selection,
    ) -> Vec<Hit> {
        let owner = owner();
        let query = Query::of(query, Date::default(), &QueryConfig::default());
        let mut request = request(&owner, selection, self.now);
        request.settings.ranking = ranking;
        self.recall.search(&query, &request).await.unwrap()
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
    let terms = Selection { limit: 50, threshold: 0.0, types: Vec::new() };
    let hits = stack.search("Where do I live?", &RankingConfig::default(), &terms).await;
    let mut found = contents(&hits);
    found.sort_unstable();
    assert_eq!(found, ["I live in Lyon now", "I live with Ana"]);
}

/// A model that knows what a sister is in two languages, and nothing else.
struct Sisters {
    space: Space,
    down: Arc<AtomicBool>,
}

impl Sisters {
    fn new() -> (Arc<Self>, Arc<AtomicBool>) {
        let space = Space {
            model: "openai/sisters".into(),
            dimension: 2,
            run: Run::Remote,
            query_prefix: String::new(),
            passage_prefix: String::new(),
        };
        let down = Arc::new(AtomicBool::new(false));
        (Arc::new(Self { space, down: down.clone() }), down)
    }
}

#[async_trait]
impl Embedder for Sisters {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(EmbedError::Unavailable("no connection".into()));
        }
        let meant = ["sister", "Schwester"].iter().any(|name| text.contains(name));
        Ok(if meant { [1.0, 0.0] } else { [0.0, 1.0] }.into())
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let mut vectors = Vec::new();
        for text in texts {
            vectors.push(self.embed_query(&text).await?);
        }
        Ok(vectors)
    }
}

#[tokio::test]
async fn what_only_one_of_two_models_finds_is_found_and_while_it_is_down_the_other_counts_whole() {
    let (sisters, down) = Sisters::new();
    let words: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(64));
    let stack =
        Stack::with(Arc::new(EnsembleEmbedder::new(vec![(words.clone(), 1.0), (sisters, 1.0)])));
    let alone = Stack::with(words);
    let remembered =
        ["Meine Schwester wohnt an der Elbe", "My old bicycle has a flat tyre", "I plant tulips"];
    for content in remembered {
        stack.remember(content, |_| {}).await;
        alone.remember(content, |_| {}).await;
    }
    let terms = Selection { limit: 3, threshold: 0.0, types: Vec::new() };
    let asked = "what city did that sister of mine move to";
    let cosine = async |stack: &Stack, asked: &str, content: &str| {
        let hits = stack.search(asked, &RankingConfig::default(), &terms).await;
        let found = hits.iter().find(|hit| hit.memory.content == content);
        found.and_then(|hit| hit.breakdown.cosine).unwrap_or_default()
    };
    let by_words = cosine(&alone, asked, remembered[0]).await;
    let by_both = cosine(&stack, asked, remembered[0]).await;
    assert!((by_both - f32::midpoint(by_words, 1.0)).abs() < 1e-5, "{by_both} {by_words}");
    let best = stack.search(asked, &RankingConfig::default(), &terms).await;
    assert_eq!(contents(&best)[0], remembered[0]);

    down.store(true, Ordering::Relaxed);
    for (asked, content) in [(asked, remembered[0]), ("is my bicycle flat", remembered[1])] {
        let (left, whole) =
            (cosine(&stack, asked, content).await, cosine(&alone, asked, content).await);
        assert!((left - whole).abs() < 1e-5, "{asked}: {left} is not {whole}");
    }
    let told = stack.metrics.encode();
    let counted = "memgate_embedding_models_missing_total{model=\"openai/sisters\"} 2";
    assert!(told.contains(counted), "{told}");
    assert!(!told.contains("memgate_failures_total{kind=\"embedding\"}"), "{told}");
}
