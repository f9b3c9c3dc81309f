//! One model of an ensemble, in the ensemble's space: what a search finds with this model alone.

use std::sync::Arc;

use async_trait::async_trait;

use super::combine::Combiner;
use crate::{EmbedError, Embedder, Partial, Reading, Run, Space, Vector};

/// An ensemble of which one model embeds the queries. Passages need all models, as ever.
struct OneModel {
    ensemble: Arc<dyn Embedder>,
    /// The place of the model in the ensemble.
    at: usize,
    combiner: Combiner,
}

/// An embedder whose queries are embedded by the model of this name alone, in the space of `embedder`; `None` without such
/// a model.
#[must_use]
pub fn only_model(embedder: &Arc<dyn Embedder>, name: &str) -> Option<Arc<dyn Embedder>> {
    let Run::Ensemble(members) = &embedder.space().run else {
        return (embedder.space().model == name).then(|| Arc::clone(embedder));
    };
    let at = embedder.models().iter().position(|model| model.space().model == name)?;
    let combiner = Combiner::of(members);
    Some(Arc::new(OneModel { ensemble: Arc::clone(embedder), at, combiner }))
}

#[async_trait]
impl Embedder for OneModel {
    fn space(&self) -> &Space {
        self.ensemble.space()
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.read_query(text).await.map(|reading| reading.vector)
    }

    async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
        let models = self.ensemble.models();
        let mut vectors = Vec::with_capacity(models.len());
        for (at, model) in models.iter().enumerate() {
            vectors.push(if at == self.at { Some(model.embed_query(text).await?) } else { None });
        }
        let (vector, share) = self.combiner.join_some(&vectors).ok_or(EmbedError::Closed)?;
        let partial = Some(Partial { share, missing: Vec::new() });
        Ok(Reading { vector, layers: None, partial })
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.ensemble.embed_passages(texts).await
    }

    /// All models: another one may decide whether to search.
    fn models(&self) -> &[Arc<dyn Embedder>] {
        self.ensemble.models()
    }
}
