//! What the model says of texts: whether they are worth keeping, and whether
//! they tell how something is done.

use std::collections::HashMap;

use super::{features::features, weights::Weights};
use crate::embed::{EmbedError, Embedder, Pooling, Run, Space, Vector};

/// The embedding model that the weights were trained with.
const MODEL: &str = "all-MiniLM-L6-v2";

/// Above this a statement tells how something is done.
const PROCEDURAL: f64 = 0.5;

/// Says what it thinks of the texts it was made for.
pub(super) struct Judge {
    weights: &'static Weights,
    /// Empty where the embedder's vectors mean nothing to the weights.
    vectors: HashMap<String, Vector>,
}

impl Judge {
    /// Embeds the texts, where that helps. Where it fails the words alone must do; an embedder
    /// that is only busy is worth another try.
    pub(super) async fn of(
        embedder: &dyn Embedder,
        texts: Vec<String>,
    ) -> Result<Self, EmbedError> {
        let Some(weights) = Weights::get() else {
            return Err(EmbedError::Failed("the weights of extraction are damaged".into()));
        };
        if !fits(embedder.space(), weights) {
            return Ok(Self { weights, vectors: HashMap::new() });
        }
        let vectors = match embedder.embed_passages(texts.clone()).await {
            Ok(vectors) => texts.into_iter().zip(vectors).collect(),
            Err(error @ (EmbedError::Busy | EmbedError::Closed)) => return Err(error),
            Err(error) => {
                tracing::debug!(%error, "statements are looked for by their words alone");
                HashMap::new()
            }
        };
        Ok(Self { weights, vectors })
    }

    /// Whether a whole message, or a sentence of it, is worth keeping.
    pub(super) fn is_memorable(&self, text: &str) -> bool {
        self.memorable(text) > self.weights.threshold
    }

    /// Whether a part of a question is sure to be worth keeping.
    pub(super) fn is_surely_memorable(&self, text: &str) -> bool {
        self.memorable(text) > self.weights.clause_threshold
    }

    /// Whether a text tells how something is done or is to be done.
    pub(super) fn is_procedural(&self, text: &str) -> bool {
        let vector = self.vectors.get(text).map_or(&[][..], |vector| vector);
        self.weights.procedural.probability(&features(text, self.weights.bits), vector) > PROCEDURAL
    }

    /// How likely a text is worth keeping.
    pub(super) fn memorable(&self, text: &str) -> f64 {
        let features = features(text, self.weights.bits);
        match self.vectors.get(text) {
            Some(vector) => self.weights.memorable.probability(&features, vector),
            None => self.weights.words.probability(&features, &[]),
        }
    }
}

/// Whether an embedder's vectors are those that the weights know. The two
/// precisions of a model differ by less than what matters here.
fn fits(space: &Space, weights: &Weights) -> bool {
    space.model == MODEL
        && space.dimension == weights.memorable.dimension()
        && matches!(space.run, Run::Here { pooling: Pooling::Mean, .. })
        && space.passage_prefix.is_empty()
}
