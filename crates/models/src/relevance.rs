//! From evidence to a relevance between 0 and 1 that a threshold can act on.
//!
//! A logistic regression, fitted by `tools/calibrate.py` and shifted so that 0.6 is the best place for a threshold.
//! docs/quality.md has the figures.

use crate::{Unreadable, tensors::Tensors};

/// The calibrated weights.
#[derive(Clone, Copy, Debug)]
pub struct Relevance {
    /// For queries in English, the language that the embedder was trained with.
    english: Weights,
    /// For queries in other languages, in which cosines tell little and shared words more.
    others: Weights,
    /// Where there is no vector.
    words: Weights,
    /// How far a hit must be beyond the threshold for every step that it is behind the best hit, in log-odds: where
    /// one memory answers, those that are only near are left out.
    behind: f32,
}

/// What each part of the evidence counts, in log-odds.
#[derive(Clone, Copy, Debug)]
struct Weights {
    bias: f32,
    /// Of the best cosine of a memory's parts.
    cosine: f32,
    /// Of the query's background similarity; below zero.
    background: f32,
    coverage: f32,
    length: f32,
    /// Of being a raw turn; below zero.
    turn: f32,
}

/// The cosines of a memory and of unrelated texts with a query.
#[derive(Clone, Copy, Debug)]
pub struct Nearness {
    /// Of the memory's best part.
    pub cosine: f32,
    /// Of texts that have nothing to do with the query.
    pub background: f32,
    /// Whether the query is in English.
    pub in_english: bool,
}

/// What a memory's text alone says of its relevance.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// The part of the query's weight in rare words that it holds, 0 to 1.
    pub coverage: f32,
    /// From 0 for nothing to 1 for a sentence or more, since a short remark seldom holds what is asked for.
    pub length: f32,
    /// Whether it is a turn as it was said. What a turn tells stands in statements of their own; the rest is mostly
    /// requests and small talk.
    pub is_turn: bool,
}

impl Relevance {
    pub(super) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let weights = |group: &str| {
            let number = |name: &str| tensors.number(&format!("relevance.{group}.{name}"));
            Ok::<_, Unreadable>(Weights {
                bias: number("bias")?,
                cosine: number("cosine")?,
                background: number("background")?,
                coverage: number("coverage")?,
                length: number("length")?,
                turn: number("turn")?,
            })
        };
        Ok(Self {
            english: weights("english")?,
            others: weights("others")?,
            words: weights("words")?,
            behind: tensors.number("relevance.behind")?,
        })
    }

    /// How relevant a memory is for a query: by its nearness, where both sides have a vector, and by its wording.
    #[must_use]
    pub fn score(&self, nearness: Option<Nearness>, wording: Wording) -> f32 {
        let Wording { coverage, length, is_turn } = wording;
        let (weights, cosine, background) = match nearness {
            Some(Nearness { cosine, background, in_english: true }) => {
                (&self.english, cosine, background)
            }
            Some(Nearness { cosine, background, in_english: false }) => {
                (&self.others, cosine, background)
            }
            None => (&self.words, 0.0, 0.0),
        };
        let sum = weights.bias
            + weights.cosine * cosine
            + weights.background * background
            + weights.coverage * coverage
            + weights.length * length
            + weights.turn * f32::from(u8::from(is_turn));
        1.0 / (1.0 + (-sum).exp())
    }

    /// Whether a hit passes a threshold, beside the best one. The best one passes exactly when it reaches the
    /// threshold; at 0 everything passes.
    #[must_use]
    pub fn passes(&self, score: f32, best: f32, threshold: f32) -> bool {
        let beyond = log_odds(score) - self.behind * (log_odds(best) - log_odds(score));
        threshold <= 0.0 || (score >= threshold && beyond >= log_odds(threshold))
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
    use crate::tests::minilm;

    fn relevance(nearness: Option<Nearness>, coverage: f32, length: f32) -> f32 {
        minilm().relevance.score(nearness, Wording { coverage, length, is_turn: false })
    }

    fn passes(score: f32, best: f32, threshold: f32) -> bool {
        minilm().relevance.passes(score, best, threshold)
    }

    fn near(cosine: f32) -> Option<Nearness> {
        Some(Nearness { cosine, background: 0.15, in_english: true })
    }

    #[test]
    fn more_evidence_means_more_relevance_with_a_vector_and_without() {
        for nearness in [None, near(0.3)] {
            let of = |coverage| relevance(nearness, coverage, 1.0);
            assert!(of(0.0) < of(0.2) && of(0.2) < of(0.9), "{nearness:?}");
            assert!((0.0..=1.0).contains(&of(0.0)) && of(0.9) <= 1.0);
            assert!(relevance(nearness, 0.2, 0.1) < of(0.2), "a short remark");
        }
        assert!(relevance(near(0.2), 0.1, 1.0) < relevance(near(0.6), 0.1, 1.0));
    }

    #[test]
    fn a_cosine_counts_less_for_a_query_that_is_near_everything() {
        let foreign = Some(Nearness { cosine: 0.5, background: 0.5, in_english: false });
        assert!(relevance(foreign, 0.0, 1.0) < relevance(near(0.5), 0.0, 1.0));
    }

    #[test]
    fn at_the_default_threshold_one_strong_sign_is_enough_and_none_is_not() {
        assert!(relevance(near(0.65), 0.0, 1.0) >= 0.6);
        assert!(relevance(None, 0.6, 1.0) >= 0.6);
    }

    #[test]
    fn a_sentence_that_has_nothing_to_do_with_the_query_does_not_pass() {
        assert!(relevance(near(0.05), 0.0, 1.0) < 0.5);
        assert!(relevance(None, 0.0, 1.0) < 0.6);
    }

    #[test]
    fn what_is_far_behind_the_best_hit_needs_more() {
        assert!(passes(0.61, 0.61, 0.6));
        assert!(!passes(0.61, 0.99, 0.6));
        assert!(passes(0.985, 0.99, 0.6));
        assert!(!passes(0.59, 0.59, 0.6));
    }

    #[test]
    fn a_threshold_of_zero_lets_everything_pass_and_one_only_what_is_certain() {
        assert!(passes(0.0, 1.0, 0.0));
        assert!(!passes(0.999, 0.999, 1.0));
        assert!(passes(1.0, 1.0, 1.0));
    }
}
