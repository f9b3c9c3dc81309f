//! Which sentences and clauses of a message tell something worth keeping of the user, and which of them say how something is
//! done, by the words and by what stands around them in the message. Used with embedders that give no inner
//! layers; [`crate::Reader`] needs them. `tools/train_memorable.py` trains it.

use memgate_text::pieces::Piece;

use crate::{Features, Unreadable, linear::Linear, tensors::Tensors};

/// A statement above this says how something is done.
const PROCEDURAL: f64 = 0.5;

/// Two models over one space of features.
#[derive(Debug)]
pub struct MemorableModel {
    thresholds: Thresholds,
    /// Whether a sentence or a clause is worth keeping.
    words: Linear,
    /// Whether a statement says how something is done.
    procedural: Linear,
}

/// Probabilities that the trainer finds by what mistakes cost.
#[derive(Debug)]
struct Thresholds {
    /// A sentence above this is kept.
    words: f64,
    /// A clause above this is kept out of a sentence that is not.
    clause: f64,
    /// At either end of a kept sentence, a clause below this is cut off.
    trim: f64,
}

impl MemorableModel {
    pub(super) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let linear = |name: &str| Linear::read(tensors, &format!("memorable.{name}"));
        let threshold =
            |name: &str| tensors.number(&format!("memorable.{name}.threshold")).map(f64::from);
        Ok(Self {
            thresholds: Thresholds {
                words: threshold("words")?,
                clause: threshold("clause")?,
                trim: threshold("trim")?,
            },
            words: linear("words")?,
            procedural: linear("procedural")?,
        })
    }

    /// Whether a sentence is worth keeping.
    #[must_use]
    pub fn is_memorable(&self, sentence: &Piece<'_>) -> bool {
        self.words.probability(&features(sentence), &[]) > self.thresholds.words
    }

    /// Classifies a clause by its words alone.
    #[must_use]
    pub fn clause(&self, clause: &Piece<'_>) -> Clause {
        match self.words.probability(&features(clause), &[]) {
            likely if likely > self.thresholds.clause => Clause::Statement,
            likely if likely < self.thresholds.trim => Clause::Other,
            _ => Clause::Unclear,
        }
    }

    /// Whether a clause surely tells something, by its words alone.
    #[must_use]
    pub fn tells(&self, clause: &Piece<'_>) -> bool {
        self.clause(clause) == Clause::Statement
    }

    /// Whether a text says how something is done or is to be done.
    #[must_use]
    pub fn is_procedural(&self, text: &str) -> bool {
        self.procedural.probability(&Features::of(text), &[]) > PROCEDURAL
    }
}

/// Class of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// It surely tells something worth keeping, whatever the sentence is.
    Statement,
    /// It may belong to a statement beside it.
    Unclear,
    /// A greeting, a request, a question, a remark.
    Other,
}

fn features(piece: &Piece<'_>) -> Features {
    Features::within(piece.before(), piece.words(), piece.after())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use memgate_text::pieces::Piece;

    use crate::tests::e5;

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
        let model = &e5().memorable;
        assert!(rows.len() >= 60);
        for row in rows {
            let piece = &Piece::sentences(&row.text)[0];
            assert_eq!(super::features(piece).len(), row.features, "{}", row.text);
            let words = model.words.probability(&super::features(piece), &[]);
            let (theirs, text) = (row.words, row.text);
            assert!((words - theirs).abs() < 1e-4, "{words} and not {theirs} for {text}");
        }
    }
}
