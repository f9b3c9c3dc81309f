//! Logistic regression with trained weights, as the trainers write them.

use sha2::{Digest, Sha256};

use super::Features;
use crate::embed::{Pooling, Run, Space};

/// The embedding model whose vectors the trainers use.
const MODEL: &str = "all-MiniLM-L6-v2";
/// Numbers in its vectors.
const DIMENSION: usize = 384;

/// Whether an embedder's vectors are those that the weights know. The two precisions of the model
/// differ by less than what matters here.
pub(crate) fn trained_with(space: &Space) -> bool {
    space.model == MODEL
        && space.dimension == DIMENSION
        && matches!(space.run, Run::Here { pooling: Pooling::Mean, .. })
        && space.query_prefix.is_empty()
        && space.passage_prefix.is_empty()
}

/// Logistic regression.
pub(crate) struct Linear {
    bias: f64,
    /// What one step of a weight is worth.
    step: f64,
    /// Weights of what an embedding model made of the text.
    dense: Vec<f32>,
    weights: &'static [u8],
}

impl Linear {
    /// Takes bias, step, `dense` weights of four bytes and `size` of one from the front of `rest`;
    /// `None` where that is not there.
    pub(crate) fn read(rest: &mut &'static [u8], dense: usize, size: usize) -> Option<Self> {
        let (bias, step) = (number(rest)?, number(rest)?);
        let dense = rest.split_off(..dense.checked_mul(4)?)?;
        let dense = dense.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let weights = rest.split_off(..size)?;
        Some(Self { bias, step, dense, weights })
    }

    /// The probability for a text with these features, of which an embedding model made these
    /// numbers. What is missing of them counts nothing.
    pub(crate) fn probability(&self, features: &Features, dense: &[&[f32]]) -> f64 {
        let weight = |bucket: usize| self.weights.get(bucket).map_or(0, |w| w.cast_signed());
        let words: f64 = features.iter().map(|(b, value)| value * f64::from(weight(b))).sum();
        let given = dense.iter().copied().flatten();
        let meaning: f64 =
            self.dense.iter().zip(given).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        1.0 / (1.0 + (-(self.bias + self.step * words + meaning)).exp())
    }
}

/// Whether a file is the one its trainer wrote, by the digest that was written beside it.
pub(crate) fn is_whole(file: &[u8], sha256: &str) -> bool {
    let digest: String = Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect();
    digest == sha256.trim()
}

/// The first bytes of `rest`, which loses them.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    rest.split_off(..N)?.try_into().ok()
}

/// The first number of `rest`, which loses it.
pub(crate) fn number(rest: &mut &[u8]) -> Option<f64> {
    let number = f32::from_le_bytes(take(rest)?);
    number.is_finite().then(|| f64::from(number))
}
