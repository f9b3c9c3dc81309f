//! Which statements are worth keeping, and which of them say how something is done. By the statement's words and its
//! vector, or by the words alone. `tools/train_memorable.py` trains it.

use crate::{Features, Unreadable, linear::Linear, tensors::Tensors};

/// A statement above this says how something is done.
const PROCEDURAL: f64 = 0.5;

/// Three models over one space of features.
#[derive(Debug)]
pub struct MemorableModel {
    /// A message or sentence above this is kept.
    threshold: f64,
    /// A clause above this is kept out of a question.
    clause_threshold: f64,
    /// Whether a text is worth keeping.
    keep: Linear,
    /// The same without a vector.
    words: Linear,
    /// Whether it says how something is done.
    procedural: Linear,
}

impl MemorableModel {
    pub(super) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let linear = |name: &str| Linear::read(tensors, &format!("memorable.{name}"));
        Ok(Self {
            threshold: f64::from(tensors.number("memorable.threshold")?),
            clause_threshold: f64::from(tensors.number("memorable.clause_threshold")?),
            keep: linear("keep")?,
            words: linear("words")?,
            procedural: linear("procedural")?,
        })
    }

    /// How likely a text is worth keeping. `vector`: its passage vector, of the embedder that the models were
    /// trained with.
    #[must_use]
    pub fn probability(&self, text: &str, vector: Option<&[f32]>) -> f64 {
        let features = Features::of(text);
        match vector {
            Some(vector) => self.keep.probability(&features, &[vector]),
            None => self.words.probability(&features, &[]),
        }
    }

    /// Whether a whole message, or a sentence of it, is worth keeping.
    #[must_use]
    pub fn is_memorable(&self, text: &str, vector: Option<&[f32]>) -> bool {
        self.probability(text, vector) > self.threshold
    }

    /// Whether a part of a question is sure to be worth keeping.
    #[must_use]
    pub fn is_surely_memorable(&self, text: &str, vector: Option<&[f32]>) -> bool {
        self.probability(text, vector) > self.clause_threshold
    }

    /// Whether a text says how something is done or is to be done.
    #[must_use]
    pub fn is_procedural(&self, text: &str, vector: Option<&[f32]>) -> bool {
        let features = Features::of(text);
        self.procedural.probability(&features, &[vector.unwrap_or_default()]) > PROCEDURAL
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use crate::{Features, tests::minilm};

    #[derive(Deserialize)]
    struct Figures {
        text: String,
        features: usize,
        words: f64,
    }

    #[test]
    fn features_and_figures_are_those_of_the_trainer() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/memorable/parity.json");
        let rows: Vec<Figures> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let model = &minilm().memorable;
        assert!(rows.len() >= 60);
        for row in rows {
            assert_eq!(Features::of(&row.text).len(), row.features, "{}", row.text);
            let words = model.probability(&row.text, None);
            let (theirs, text) = (row.words, row.text);
            assert!((words - theirs).abs() < 1e-4, "{words} and not {theirs} for {text}");
        }
    }
}
