//! An ensemble of embedding models as one embedder: every text is embedded by all of them, and
//! their vectors are concatenated.
//!
//! Each vector is scaled by the square root of its weight's share, so that the cosine of two
//! concatenated vectors is the weighted mean of the models' cosines. A query is searched with the
//! models that answer; a passage needs all of them.

mod combine;
mod one_model;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::time::{Instant, timeout, timeout_at};

use self::combine::Combiner;
pub use self::one_model::only_model;
use crate::{EmbedError, Embedder, Member, Missing, Partial, Reading, Space, Vector};

/// Timeout of each model's check, shorter than that of `/readyz`, so that a late model can be
/// named.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Several models that embed together.
pub struct EnsembleEmbedder {
    /// In the order of their vectors.
    models: Vec<Arc<dyn Embedder>>,
    combiner: Combiner,
    space: Space,
}

impl EnsembleEmbedder {
    /// Combines models with their weights, which must be finite and above 0, as the configuration's
    /// bounds ensure.
    #[must_use]
    pub fn new(models: Vec<(Arc<dyn Embedder>, f32)>) -> Self {
        let member = |(model, weight): &(Arc<dyn Embedder>, f32)| Member {
            space: model.space().clone(),
            weight: *weight,
        };
        let members: Vec<_> = models.iter().map(member).collect();
        Self {
            combiner: Combiner::of(&members),
            space: Space::ensemble(members),
            models: models.into_iter().map(|(model, _)| model).collect(),
        }
    }

    /// The results of all models, or the most useful error, with the model's name. An error that
    /// the text may have caused has the lowest priority: an unavailable model matters more.
    fn all<T>(&self, given: Vec<Result<T, EmbedError>>) -> Result<Vec<T>, EmbedError> {
        let (mut all, mut errors) = (Vec::with_capacity(given.len()), Vec::new());
        for (model, given) in self.models.iter().zip(given) {
            match given {
                Ok(given) => all.push(given),
                Err(error) => errors.push(error.of_model(&model.space().model)),
            }
        }
        match errors.into_iter().min_by_key(EmbedError::may_be_the_text) {
            None => Ok(all),
            Some(error) => Err(error),
        }
    }
}

#[async_trait]
impl Embedder for EnsembleEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    /// Fails if any model fails.
    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        let asked = self.models.iter().map(|model| model.embed_query(text));
        let vectors = self.all(join_all(asked).await)?;
        Ok(self.combiner.join(vectors.iter()))
    }

    async fn read_query_by(&self, text: &str, until: Instant) -> Result<Reading, EmbedError> {
        let asked = self.models.iter().map(|model| timeout_at(until, model.embed_query(text)));
        let (mut vectors, mut missing) = (Vec::new(), Vec::new());
        for (model, given) in self.models.iter().zip(join_all(asked).await) {
            match given.unwrap_or(Err(EmbedError::Late)) {
                Ok(vector) => vectors.push(Some(vector)),
                Err(error) => {
                    vectors.push(None);
                    missing.push(Missing { model: model.space().model.clone(), error });
                }
            }
        }
        if missing.is_empty() {
            return Ok(Reading::whole(self.combiner.join(vectors.iter().flatten()), None));
        }
        let Some((vector, share)) = self.combiner.join_some(&vectors) else {
            let first = missing.into_iter().next();
            return Err(first.map_or(EmbedError::Closed, |it| it.error.of_model(&it.model)));
        };
        Ok(Reading { vector, layers: None, partial: Some(Partial { share, missing }) })
    }

    /// Every model finishes its work even if another has failed: results are cached and need not be
    /// computed again.
    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let asked = self.models.iter().map(|model| model.embed_passages(texts.clone()));
        let given = self.all(join_all(asked).await)?;
        if given.iter().any(|vectors| vectors.len() != texts.len()) {
            return Err(EmbedError::Failed("a passage got no vector".into()));
        }
        let of_text = |at: usize| given.iter().filter_map(move |vectors| vectors.get(at));
        Ok((0..texts.len()).map(|at| self.combiner.join(of_text(at))).collect())
    }

    /// All models must work; those that do not are listed.
    async fn check(&self) -> Result<(), EmbedError> {
        let late = || EmbedError::Unavailable(format!("no response within {PATIENCE:?}"));
        let asked = self.models.iter().map(async |model| {
            timeout(PATIENCE, model.check()).await.unwrap_or_else(|_| Err(late()))
        });
        let mut errors = Vec::new();
        for (model, outcome) in self.models.iter().zip(join_all(asked).await) {
            match outcome {
                Ok(()) => {}
                // Only a changed configuration can fix this.
                Err(error @ EmbedError::Dimension { .. }) => return Err(error),
                Err(error) => errors.push(error.of_model(&model.space().model)),
            }
        }
        match <[EmbedError; 1]>::try_from(errors) {
            Ok([error]) => Err(error),
            Err(errors) if errors.is_empty() => Ok(()),
            Err(errors) => {
                let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
                Err(EmbedError::Failed(told.join("; ")))
            }
        }
    }

    fn models(&self) -> &[Arc<dyn Embedder>] {
        &self.models
    }

    async fn close(&self) {
        join_all(self.models.iter().map(|model| model.close())).await;
    }
}
