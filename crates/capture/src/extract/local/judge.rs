//! What the trained model says of pieces of messages, with their vectors where it knows the embedder's.

use std::collections::HashMap;

use memgate_embed::{EmbedError, Embedder, Vector, model_of};
use memgate_models::{Clause, MemorableModel, Models};
use memgate_text::pieces::Piece;

/// The model's predictions for the texts it was made for.
pub(super) struct Judge<'a> {
    model: &'a MemorableModel,
    /// Empty where the model does not know the embedder's vectors.
    vectors: HashMap<String, Vector>,
}

impl<'a> Judge<'a> {
    /// Embeds the texts, where that helps. Where it fails the words alone must do; an embedder
    /// that is only busy is worth another try.
    pub(super) async fn of(
        embedder: &dyn Embedder,
        models: &'a Models,
        texts: Vec<String>,
    ) -> Result<Self, EmbedError> {
        let model = &models.memorable;
        // Of several models, the others are not asked.
        let Some(known) = model_of(embedder, |space| models.are_trained_with(space)) else {
            return Ok(Self { model, vectors: HashMap::new() });
        };
        let vectors = match known.embed_passages(texts.clone()).await {
            Ok(vectors) => texts.into_iter().zip(vectors).collect(),
            Err(error @ (EmbedError::Busy | EmbedError::Closed)) => return Err(error),
            Err(error) => {
                tracing::debug!(%error, "statements are looked for by their words alone");
                HashMap::new()
            }
        };
        Ok(Self { model, vectors })
    }

    /// Whether a sentence is worth keeping.
    pub(super) fn is_memorable(&self, sentence: &Piece<'_>) -> bool {
        let vectors = self.vector(sentence.words()).zip(self.vector(sentence.message()));
        self.model.is_memorable(sentence, vectors.map(|(own, message)| [own, message]))
    }

    /// What a clause of a sentence is.
    pub(super) fn clause(&self, clause: &Piece<'_>) -> Clause {
        self.model.clause(clause)
    }

    /// Whether a text says how something is done or is to be done.
    pub(super) fn is_procedural(&self, text: &str) -> bool {
        self.model.is_procedural(text, self.vector(text))
    }

    fn vector(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(text).map(|vector| &**vector)
    }
}
