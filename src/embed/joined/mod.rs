//! Several models side by side, as one embedder: every text is embedded by all of them, and their
//! vectors stand one behind the other.
//!
//! Each is as long as the root of its weight's share, so that the cosine of two such vectors is the
//! mean of the models' cosines by their weights: whoever compares vectors merges what the models
//! find, and need not know. A question goes on with the models that are there; a passage needs all.

mod side;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::time::{Instant, timeout, timeout_at};

use self::side::Sides;
use super::{EmbedError, Embedder, Member, Missing, Partial, Reading, Space, Vector};

/// The longest each model may take to show that it works. Below what `/readyz` waits for all, so
/// that who is late can be named.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Several models that embed together.
pub struct JoinedEmbedder {
    /// In the order in which their vectors stand.
    models: Vec<Arc<dyn Embedder>>,
    sides: Sides,
    space: Space,
}

impl JoinedEmbedder {
    /// Joins models, each with its weight: what its cosines count beside those of the others. The
    /// weights are above 0 and finite, as the configuration's bounds have them.
    #[must_use]
    pub fn new(models: Vec<(Arc<dyn Embedder>, f32)>) -> Self {
        let member = |(model, weight): &(Arc<dyn Embedder>, f32)| Member {
            space: model.space().clone(),
            weight: *weight,
        };
        let members: Vec<_> = models.iter().map(member).collect();
        Self {
            sides: Sides::of(&members),
            space: Space::joined(members),
            models: models.into_iter().map(|(model, _)| model).collect(),
        }
    }

    /// What all models gave, or why not all did, with the name of the model. An error that may be
    /// the text's comes last: while a model is away, that is what matters.
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
impl Embedder for JoinedEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    /// By all models: one that fails fails it.
    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        let asked = self.models.iter().map(|model| model.embed_query(text));
        let vectors = self.all(join_all(asked).await)?;
        Ok(self.sides.join(vectors.iter()))
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
            return Ok(Reading::whole(self.sides.join(vectors.iter().flatten()), None));
        }
        let Some((vector, share)) = self.sides.join_some(&vectors) else {
            let first = missing.into_iter().next();
            return Err(first.map_or(EmbedError::Closed, |it| it.error.of_model(&it.model)));
        };
        Ok(Reading { vector, layers: None, partial: Some(Partial { share, missing }) })
    }

    /// By all models, each of which ends what it began when another has failed: it keeps what it
    /// made, and is not asked for it again.
    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let asked = self.models.iter().map(|model| model.embed_passages(texts.clone()));
        let given = self.all(join_all(asked).await)?;
        if given.iter().any(|vectors| vectors.len() != texts.len()) {
            return Err(EmbedError::Failed("a passage got no vector".into()));
        }
        let of_text = |at: usize| given.iter().filter_map(move |vectors| vectors.get(at));
        Ok((0..texts.len()).map(|at| self.sides.join(of_text(at))).collect())
    }

    /// Every model must work; those that do not are named.
    async fn check(&self) -> Result<(), EmbedError> {
        let late = || EmbedError::Unavailable(format!("no answer within {PATIENCE:?}"));
        let asked = self.models.iter().map(async |model| {
            timeout(PATIENCE, model.check()).await.unwrap_or_else(|_| Err(late()))
        });
        let mut errors = Vec::new();
        for (model, outcome) in self.models.iter().zip(join_all(asked).await) {
            match outcome {
                Ok(()) => {}
                // Nothing but another configuration helps here.
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
