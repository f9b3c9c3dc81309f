//! A text read before it is searched for: to decide whether to, and how likely that helps. The
//! search then takes the vector from here, so a message costs one embedding.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    decide::{Decided, First, Message, at_first},
    query::asking,
    search::{EMBED_SHARE, Recall},
};
use crate::{
    embed::{Embedder, Missing, Reading, Space, model_of},
    memory::QueryVector,
    telemetry::Phase,
};

/// What came of embedding a text.
#[derive(Clone, Debug)]
pub struct Read {
    text: String,
    /// None: it failed or was late, and is not tried again for this request.
    reading: Option<Reading>,
}

impl Read {
    /// Whether it is this text's.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        self.text == text
    }

    /// What the model's inner layers gave, where there are any, and the vector.
    pub(super) fn layers(&self) -> Option<(&[f32], &[f32])> {
        let reading = self.reading.as_ref()?;
        Some((reading.layers.as_deref()?, &reading.vector))
    }

    /// What to search near to.
    pub(super) fn aim(&self, space: &Arc<str>) -> Option<Aim> {
        let Reading { vector, partial, .. } = self.reading.as_ref()?;
        let vector = QueryVector { space: Arc::clone(space), values: vector.clone() };
        Some(Aim { vector, share: partial.as_ref().map_or(1.0, |partial| partial.share) })
    }
}

/// What is searched near to.
#[derive(Clone, Debug)]
pub(super) struct Aim {
    pub(super) vector: QueryVector,
    /// Of the models that embed, the weight of those that gave it.
    share: f32,
}

impl Aim {
    /// What the product of its vector with another means: the cosine, by the models that gave it.
    pub(super) fn cosine(&self, product: f32) -> f32 {
        if self.share < 1.0 { (product / self.share.sqrt()).clamp(-1.0, 1.0) } else { product }
    }
}

impl Recall {
    /// Decides whether to search, within the embedder's share of the time.
    pub async fn decide(&self, message: &Message<'_>, deadline: Instant) -> Decided {
        let started = Instant::now();
        let first = at_first(message, &self.models.need);
        self.metrics.phase(Phase::Decide, started.elapsed());
        let known = |space: &Space| self.models.are_trained_with(space);
        let decided = match first {
            First::Sure(decided) => decided,
            First::Unsure(unsure) => match model_of(self.embedder.as_ref(), known) {
                // Another embedder's vectors mean nothing to the model.
                None => unsure.by_words(),
                Some(judge) => {
                    let read = self.read_with(judge, &asking(unsure.text()), deadline).await;
                    let decided = unsure.with(read);
                    // Where it is one of several models, the search wants the others' vectors, too,
                    // and gets this one's from its cache.
                    let enough = known(self.embedder.space());
                    Decided { read: decided.read.filter(|_| enough), ..decided }
                }
            },
        };
        self.metrics.decided_by(decided.by.as_str());
        decided.told()
    }

    /// Embeds a text within the embedder's share of the time left.
    pub async fn read(&self, text: &str, deadline: Instant) -> Read {
        self.read_with(self.embedder.as_ref(), text, deadline).await
    }

    async fn read_with(&self, embedder: &dyn Embedder, text: &str, deadline: Instant) -> Read {
        let started = Instant::now();
        let left = deadline.saturating_duration_since(started);
        let until = started + left.mul_f64(EMBED_SHARE);
        let reading = embedder.read_query_by(text, until).await;
        self.metrics.phase(Phase::Embed, started.elapsed());
        let reading = match reading {
            Ok(reading) => Some(reading),
            Err(error) => {
                if embedder.space().id() == self.embedder.space().id() {
                    self.metrics.failed("embedding");
                    tracing::debug!(%error, "the query was not embedded, its words are searched");
                } else {
                    // One of several was asked to decide; the others can still be searched by.
                    let model = &embedder.space().model;
                    self.metrics.model_missing(model);
                    tracing::debug!(model, %error, "the message is judged by its words");
                }
                None
            }
        };
        let partial = reading.as_ref().and_then(|reading| reading.partial.as_ref());
        for Missing { model, error } in partial.iter().flat_map(|partial| &partial.missing) {
            self.metrics.model_missing(model);
            tracing::debug!(model, %error, "the query is searched without this model's vector");
        }
        Read { text: text.to_owned(), reading }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use async_trait::async_trait;

    use super::*;
    use crate::{
        config::{QueryConfig, RankingConfig},
        embed::{
            EmbedError, Embedder, Layers, Pooling, Precision, Run, Space, Vector,
            deterministic::DeterministicEmbedder, joined::JoinedEmbedder,
        },
        memory::{MemoryStore, Owner},
        models::Models,
        recall::{By, Decision, Query, Request, Skip, Terms, Touches, build_query},
        signals::Earlier,
        store::InMemoryStore,
        telemetry::Metrics,
    };

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
                model: "all-MiniLM-L6-v2".into(),
                dimension: 384,
                run: Run::Here { pooling: Pooling::Mean, precision: Precision::Int8 },
                query_prefix: String::new(),
                passage_prefix: String::new(),
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
            Ok(Reading::whole(vector, Some(Layers::from(vec![0.0; 4 * 384]))))
        }

        async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
            self.inner.embed_passages(texts).await
        }
    }

    fn recall(embedder: Arc<dyn Embedder>) -> Recall {
        let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
        let (touches, _) = Touches::new(store.clone());
        Recall::new(
            store,
            embedder.clone(),
            Models::for_embedder(embedder.space()).unwrap(),
            touches,
            Metrics::new(),
        )
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    async fn decided(recall: &Recall, text: &str) -> Decided {
        let message = Message { text, earlier: &Earlier::SILENT, tools_offered: false };
        recall.decide(&message, soon()).await
    }

    async fn search(recall: &Recall, query: &Query, decided: &Decided) {
        let terms = Terms { limit: 5, threshold: 0.0, types: Vec::new() };
        let request = Request {
            owner: &Owner::of_user("ana").unwrap(),
            project_id: None,
            query,
            read: decided.read.as_ref(),
            said: &[],
            terms: &terms,
            ranking: &RankingConfig::default(),
            filter: None,
            known_types: &[],
            forgotten: &[],
            now: jiff::Timestamp::now(),
            deadline: soon(),
        };
        recall.search(&request).await.unwrap();
    }

    /// Neither rules nor words are sure of it.
    const UNSURE: &str = "how old is Jean turning this year";

    fn query(text: &str) -> Query {
        build_query(text, &[], jiff::Timestamp::now(), &QueryConfig::default())
    }

    #[tokio::test]
    async fn deciding_and_searching_cost_one_embedding() {
        let embedder = Counting::new(false);
        let recall = recall(embedder.clone());
        let decided = decided(&recall, &format!("  {UNSURE}\n")).await;
        assert_eq!((decided.by, embedder.asked()), (By::Model, 1));
        assert!(decided.need.is_some_and(|need| (0.0..=1.0).contains(&need)));
        search(&recall, &query(UNSURE), &decided).await;
        assert_eq!(embedder.asked(), 1);
        // Of another text nothing is known.
        search(&recall, &query("when is the flight back from Rome"), &decided).await;
        assert_eq!(embedder.asked(), 2);
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
        let recall = recall(Arc::new(JoinedEmbedder::new(models)));
        let decided = decided(&recall, UNSURE).await;
        assert_eq!((decided.by, judge.asked(), other.asked()), (By::Model, 1, 0));
        search(&recall, &query(UNSURE), &decided).await;
        assert_eq!(other.asked(), 1);
    }

    #[tokio::test]
    async fn what_rules_or_words_are_sure_of_costs_none() {
        let embedder = Counting::new(false);
        let recall = recall(embedder.clone());
        for (text, by, why) in [
            ("thank you so much!", By::Rule, Skip::Greeting),
            ("what is the capital of Australia", By::Words, Skip::Fact),
        ] {
            let decided = decided(&recall, text).await;
            assert_eq!((decided.decision, decided.by), (Decision::Skip(why), by), "{text}");
        }
        assert_eq!(decided(&recall, "and the other?").await.by, By::Rule);
        assert_eq!(embedder.asked(), 0);
    }

    #[tokio::test]
    async fn without_an_embedding_the_words_decide_and_it_is_not_tried_again() {
        let embedder = Counting::new(true);
        let recall = recall(embedder.clone());
        let decided = decided(&recall, UNSURE).await;
        assert_eq!((decided.by, embedder.asked()), (By::Words, 1));
        search(&recall, &query(UNSURE), &decided).await;
        assert_eq!(embedder.asked(), 1);
    }
}
