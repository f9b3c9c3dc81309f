//! The embedding of a query. The decision embeds the message first; the search then takes the vector from here, so a
//! message costs one embedding.

use std::sync::Arc;

use tokio::time::Instant;

use crate::services::Services;
use memgate_core::memory::QueryVector;
use memgate_embed::{Embedder, Missing, Reading};
use memgate_telemetry::Phase;

/// The embedder's share of the time left; the rest is for the store.
const EMBED_SHARE: f64 = 0.6;

/// The result of embedding a text.
#[derive(Clone, Debug)]
pub struct QueryEmbedding {
    /// None: it failed or was late, and is not tried again for this request.
    reading: Option<Reading>,
}

impl QueryEmbedding {
    /// The model's inner layers, where the embedder gives them, and the vector.
    pub(crate) fn layers(&self) -> Option<(&[f32], &[f32])> {
        let reading = self.reading.as_ref()?;
        Some((reading.layers.as_deref()?, &reading.vector))
    }

    /// The vector to search near to.
    pub(super) fn vector(&self, space: &Arc<str>) -> Option<SearchVector> {
        let Reading { vector, partial, .. } = self.reading.as_ref()?;
        let vector = QueryVector { space: Arc::clone(space), values: vector.clone() };
        Some(SearchVector { vector, share: partial.as_ref().map_or(1.0, |partial| partial.share) })
    }
}

/// A vector to search near to.
#[derive(Clone, Debug)]
pub(super) struct SearchVector {
    pub(super) vector: QueryVector,
    /// The weight of the models that gave it, of all models that embed.
    share: f32,
}

impl SearchVector {
    /// The cosine, by the models that gave the vector, from its product with another vector.
    pub(super) fn cosine(&self, product: f32) -> f32 {
        if self.share < 1.0 { (product / self.share.sqrt()).clamp(-1.0, 1.0) } else { product }
    }
}

/// Embeds a text with one of the embedders, within the embedder's share of the time left.
pub(crate) async fn embed_query(
    services: &Services,
    embedder: &dyn Embedder,
    text: &str,
    deadline: Instant,
) -> QueryEmbedding {
    let Services { metrics, .. } = services;
    let started = Instant::now();
    let left = deadline.saturating_duration_since(started);
    let until = started + left.mul_f64(EMBED_SHARE);
    let reading = embedder.read_query_by(text, until).await;
    metrics.phase(Phase::Embed, started.elapsed());
    let reading = match reading {
        Ok(reading) => Some(reading),
        Err(error) => {
            if embedder.space().id() == services.embedder.space().id() {
                metrics.failed("embedding");
                tracing::debug!(%error, "the query was not embedded, its words are searched");
            } else {
                // One of several was asked to decide; the others can still be searched by.
                let model = &embedder.space().model;
                metrics.model_missing(model);
                tracing::debug!(model, %error, "the message is judged by its words");
            }
            None
        }
    };
    let partial = reading.as_ref().and_then(|reading| reading.partial.as_ref());
    for Missing { model, error } in partial.iter().flat_map(|partial| &partial.missing) {
        metrics.model_missing(model);
        tracing::debug!(model, %error, "the query is searched without this model's vector");
    }
    QueryEmbedding { reading }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use async_trait::async_trait;
    use jiff::civil::Date;

    use super::*;
    use crate::query::build_query;
    use crate::request::tests::request;
    use crate::retrieve::Retrieval;
    use crate::signals::Earlier;
    use crate::tests::recall_on;
    use crate::{
        Decided, DecidedBy, Decision, Message, Query, QueryConfig, Recall, Selection, Skip,
        pipeline,
    };
    use memgate_core::{
        clock::Clock,
        memory::{MemoryStore, Owner},
    };
    use memgate_embed::{
        EmbedError, Layers, Pooling, Precision, Run, Space, Vector,
        deterministic::DeterministicEmbedder, ensemble::EnsembleEmbedder,
    };
    use memgate_store::InMemoryStore;
    use memgate_telemetry::Metrics;

    /// Counts what it is asked for. It says that it is the model that the decision knows.
    struct Counting {
        space: Space,
        inner: DeterministicEmbedder,
        asked: AtomicUsize,
        broken: bool,
    }

    impl Counting {
        fn new(broken: bool) -> Arc<Self> {
            let space = Space {
                model: "multilingual-e5-small-memgate-1".into(),
                dimension: 384,
                run: Run::Here { pooling: Pooling::Mean, precision: Precision::Int8 },
                query_prefix: "query: ".into(),
                passage_prefix: "passage: ".into(),
            };
            let (inner, asked) = (DeterministicEmbedder::new(384), AtomicUsize::new(0));
            Arc::new(Self { space, inner, asked, broken })
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::Relaxed)
        }
    }

    #[async_trait]
    impl Embedder for Counting {
        fn space(&self) -> &Space {
            &self.space
        }

        async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
            self.read_query(text).await.map(|reading| reading.vector)
        }

        async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            if self.broken {
                return Err(EmbedError::Busy);
            }
            let vector = self.inner.embed_query(text).await?;
            Ok(Reading::whole(vector, Some(Layers::from(vec![0.0; 3 * 384]))))
        }

        async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
            self.inner.embed_passages(texts).await
        }
    }

    fn recall(embedder: Arc<dyn Embedder>) -> Recall {
        let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
        recall_on(store, embedder, Metrics::new())
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    async fn decided(recall: &Recall, text: &str) -> Decided {
        let message = Message { text, signals: &Earlier::SILENT, tools_offered: false };
        recall.decide(&message, soon()).await
    }

    async fn search(recall: &Recall, query: &Query, decided: &Decided) {
        let selection = Selection { limit: 5, threshold: 0.0, types: Vec::new() };
        let owner = Owner::of_user("ana").unwrap();
        let request = request(&owner, &selection, Clock::System.now());
        let embedding = decided.embedding.as_ref();
        let retrieval = Retrieval { request: &request, query, embedding };
        pipeline::search(&recall.services, &retrieval).await.unwrap();
    }

    /// Neither rules nor words are sure of it.
    const UNSURE: &str = "how old is Jean turning this year";

    fn query(text: &str) -> Query {
        build_query(text, &[], Date::default(), &QueryConfig::default())
    }

    #[tokio::test]
    async fn deciding_and_searching_cost_one_embedding() {
        let embedder = Counting::new(false);
        let recall = recall(embedder.clone());
        let decided = decided(&recall, &format!("  {UNSURE}\n")).await;
        assert_eq!((decided.by, embedder.asked()), (DecidedBy::Model, 1));
        assert!(decided.need.is_some_and(|need| (0.0..=1.0).contains(&need)));
        search(&recall, &query(UNSURE), &decided).await;
        assert_eq!(embedder.asked(), 1);
        // A statement is another text than the message.
        let statement = Some("Jean is turning ten this year".to_owned());
        search(&recall, &Query { statement, ..query(UNSURE) }, &decided).await;
        assert_eq!(embedder.asked(), 2);
        let key_terms = vec!["Rome".to_owned()];
        search(&recall, &Query { key_terms, ..query(UNSURE) }, &decided).await;
        assert_eq!(embedder.asked(), 3);
    }

    #[tokio::test]
    async fn of_several_models_one_decides_and_the_others_are_asked_only_to_search() {
        let judge = Counting::new(false);
        let other = Arc::new(Counting {
            space: Space { model: "openai/m".into(), ..judge.space().clone() },
            inner: DeterministicEmbedder::new(384),
            asked: AtomicUsize::new(0),
            broken: false,
        });
        let models: Vec<(Arc<dyn Embedder>, f32)> =
            vec![(other.clone(), 1.0), (judge.clone(), 1.0)];
        let recall = recall(Arc::new(EnsembleEmbedder::new(models)));
        let decided = decided(&recall, UNSURE).await;
        assert_eq!((decided.by, judge.asked(), other.asked()), (DecidedBy::Model, 1, 0));
        search(&recall, &query(UNSURE), &decided).await;
        assert_eq!(other.asked(), 1);
    }

    #[tokio::test]
    async fn what_rules_or_words_are_sure_of_costs_none() {
        let embedder = Counting::new(false);
        let recall = recall(embedder.clone());
        for (text, by, why) in [
            ("thank you so much!", DecidedBy::Rule, Skip::Greeting),
            ("what is the capital of Australia", DecidedBy::Lexical, Skip::Fact),
        ] {
            let decided = decided(&recall, text).await;
            assert_eq!((decided.decision, decided.by), (Decision::Skip(why), by), "{text}");
        }
        assert_eq!(decided(&recall, "and the other?").await.by, DecidedBy::Rule);
        assert_eq!(embedder.asked(), 0);
    }

    #[tokio::test]
    async fn without_an_embedding_the_words_decide_and_it_is_not_tried_again() {
        let embedder = Counting::new(true);
        let recall = recall(embedder.clone());
        let decided = decided(&recall, UNSURE).await;
        assert_eq!((decided.by, embedder.asked()), (DecidedBy::Lexical, 1));
        search(&recall, &query(UNSURE), &decided).await;
        assert_eq!(embedder.asked(), 1);
    }
}
