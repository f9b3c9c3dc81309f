//! What the model says of texts: whether they are worth keeping, and whether
//! they tell how something is done.

use std::collections::HashMap;

use super::weights::Weights;
use crate::{
    classify::{Features, trained_with},
    embed::{EmbedError, Embedder, Vector, model_of},
};

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
        // Of several models, the others are not asked.
        let Some(model) = model_of(embedder, trained_with) else {
            return Ok(Self { weights, vectors: HashMap::new() });
        };
        let vectors = match model.embed_passages(texts.clone()).await {
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
        let features = Features::of(text, self.weights.bits);
        self.weights.procedural.probability(&features, &[vector]) > PROCEDURAL
    }

    /// How likely a text is worth keeping.
    pub(super) fn memorable(&self, text: &str) -> f64 {
        let features = Features::of(text, self.weights.bits);
        match self.vectors.get(text) {
            Some(vector) => self.weights.memorable.probability(&features, &[vector]),
            None => self.weights.words.probability(&features, &[]),
        }
    }
}
