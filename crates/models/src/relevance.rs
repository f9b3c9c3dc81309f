//! From evidence to a relevance between 0 and 1 that a threshold can act on.
//!
//! A logistic regression, fitted by `tools/calibrate.py` and shifted so that 0.6 is the best place for a threshold. One
//! for all languages: the encoder is trained so that a cosine means the same in each. docs/quality.md has the figures.

use crate::{Unreadable, tensors::Tensors};

/// The calibrated weights.
#[derive(Clone, Copy, Debug)]
pub struct Relevance {
    /// Where both sides have a vector.
    vectors: Weights,
    /// Where there is no vector.
    words: Weights,
}

/// Weight of each part of the evidence, in log-odds.
#[derive(Clone, Copy, Debug)]
struct Weights {
    bias: f32,
    /// Weight of the best cosine of a memory's parts.
    cosine: f32,
    /// Weight of the distance to the best cosine of all candidates, which is below zero.
    gap: f32,
    coverage: f32,
    length: f32,
    /// Weight of a raw turn; below zero.
    turn: f32,
    /// Further weight of a turn that tells nothing.
    idle: f32,
}

/// How near a memory is to a query.
#[derive(Clone, Copy, Debug)]
pub struct Nearness {
    /// The cosine of the memory's best part.
    pub cosine: f32,
    /// The cosine less the best cosine of all candidates: 0 for the nearest.
    pub gap: f32,
}

/// Features of a memory's text.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// The part of the query's weight in rare words that it holds, 0 to 1.
    pub coverage: f32,
    /// From 0 for nothing to 1 for a sentence or more, since a short remark seldom holds what is asked for.
    pub length: f32,
    /// The form of the text.
    pub form: Form,
}

/// The form of a memory's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Made to be remembered: a statement, a fact, a preference, an import.
    Made,
    /// A turn as it was said. Its statements are memories of their own, too.
    Turn,
    /// A turn in which nothing was found that is worth keeping: a request, small talk, pasted text.
    IdleTurn,
}

impl Relevance {
    pub(super) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let weights = |group: &str| {
            let number = |name: &str| tensors.number(&format!("relevance.{group}.{name}"));
            Ok::<_, Unreadable>(Weights {
                bias: number("bias")?,
                cosine: number("cosine")?,
                gap: number("gap")?,
                coverage: number("coverage")?,
                length: number("length")?,
                turn: number("turn")?,
                idle: number("idle")?,
            })
        };
        Ok(Self { vectors: weights("vectors")?, words: weights("words")? })
    }

    /// How relevant a memory is for a query: by its nearness, where both sides have a vector, and by its wording.
    #[must_use]
    pub fn score(&self, nearness: Option<Nearness>, wording: Wording) -> f32 {
        let Wording { coverage, length, form } = wording;
        let (weights, Nearness { cosine, gap }) = match nearness {
            Some(nearness) => (&self.vectors, nearness),
            None => (&self.words, Nearness { cosine: 0.0, gap: 0.0 }),
        };
        let sum = weights.bias
            + weights.cosine * cosine
            + weights.gap * gap
            + weights.coverage * coverage
            + weights.length * length
            + match form {
                Form::Made => 0.0,
                Form::Turn => weights.turn,
                Form::IdleTurn => weights.turn + weights.idle,
            };
        1.0 / (1.0 + (-sum).exp())
    }
}

/// A share on a scale without ends, on which equal steps mean equally much.
#[must_use]
pub fn log_odds(share: f32) -> f32 {
    let share = share.clamp(1e-6, 1.0 - 1e-6);
    (share / (1.0 - share)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{e5, minilm};

    fn relevance(models: &crate::Models, nearness: Option<Nearness>, coverage: f32) -> f32 {
        models.relevance.score(nearness, Wording { coverage, length: 1.0, form: Form::Made })
    }

    fn near(cosine: f32) -> Option<Nearness> {
        Some(Nearness { cosine, gap: 0.0 })
    }

    #[test]
    fn more_evidence_means_more_relevance_with_a_vector_and_without() {
        for models in [e5(), minilm()] {
            for nearness in [None, near(0.3)] {
                let of = |coverage| relevance(&models, nearness, coverage);
                assert!(of(0.0) < of(0.2) && of(0.2) < of(0.9), "{nearness:?}");
                assert!((0.0..=1.0).contains(&of(0.0)) && of(0.9) <= 1.0);
            }
            assert!(relevance(&models, near(0.2), 0.1) < relevance(&models, near(0.6), 0.1));
            let [made, turn, idle] = [Form::Made, Form::Turn, Form::IdleTurn].map(|form| {
                models.relevance.score(near(0.5), Wording { coverage: 0.5, length: 1.0, form })
            });
            assert!(made > turn && turn > idle, "{made} {turn} {idle}");
        }
    }

    #[test]
    fn what_is_behind_the_nearest_counts_less() {
        let behind = Some(Nearness { cosine: 0.5, gap: -0.4 });
        for models in [e5(), minilm()] {
            assert!(relevance(&models, behind, 0.0) < relevance(&models, near(0.5), 0.0));
        }
    }

    #[test]
    fn at_the_default_threshold_one_strong_sign_is_enough_and_none_is_not() {
        for models in [e5(), minilm()] {
            assert!(relevance(&models, near(0.7), 0.0) >= 0.6);
            assert!(relevance(&models, None, 0.6) >= 0.6);
            // The nearest of memories that have nothing to do with the query.
            assert!(relevance(&models, near(0.0), 0.0) < 0.6);
            assert!(relevance(&models, None, 0.0) < 0.6);
        }
    }
}
