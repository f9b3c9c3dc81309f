//! The trained weights, read from the file that tools/train_memorable.py writes.

use std::sync::LazyLock;

use crate::classify::{Linear, is_whole, number, take};

/// The file, and the digest it must have.
const FILE: &[u8] = include_bytes!("weights.bin");
const SHA256: &str = include_str!("weights.sha256");

const MAGIC: &[u8] = b"MGSTMT01";

/// The greatest hash in bits that is believed.
const MOST_BITS: u32 = 24;

/// `None` when the file is not what the trainer wrote; a test sees to that.
static WEIGHTS: LazyLock<Option<Weights>> =
    LazyLock::new(|| is_whole(FILE, SHA256).then(|| Weights::read(FILE)).flatten());

/// Three models over one space of features.
pub(super) struct Weights {
    /// Bits of the features' hash.
    pub(super) bits: u32,
    /// A message above this is kept.
    pub(super) threshold: f64,
    /// A clause above this is kept out of a question.
    pub(super) clause_threshold: f64,
    /// Whether a text is worth keeping.
    pub(super) memorable: Linear,
    /// The same without a sentence vector.
    pub(super) words: Linear,
    /// Whether it tells how something is done.
    pub(super) procedural: Linear,
}

impl Weights {
    /// The weights of this build.
    pub(super) fn get() -> Option<&'static Self> {
        WEIGHTS.as_ref()
    }

    fn read(file: &'static [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let bits = u32::from_le_bytes(take(&mut rest)?);
        let dimension = u32::from_le_bytes(take(&mut rest)?) as usize;
        let (threshold, clause_threshold) = (number(&mut rest)?, number(&mut rest)?);
        if bits > MOST_BITS {
            return None;
        }
        let mut model = || Linear::read(&mut rest, dimension, 1 << bits);
        let (memorable, words, procedural) = (model()?, model()?, model()?);
        let whole = rest.is_empty();
        whole.then_some(Self { bits, threshold, clause_threshold, memorable, words, procedural })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_file_is_the_one_that_was_trained() {
        assert!(Weights::get().is_some(), "run tools/train_memorable.py");
    }

    #[test]
    fn a_file_that_is_cut_or_longer_is_refused() {
        static LONGER: LazyLock<Vec<u8>> = LazyLock::new(|| [FILE, b"x"].concat());
        assert!(Weights::read(&LONGER).is_none());
        for length in [0, 7, 8, 20, 1000, FILE.len() - 1] {
            assert!(Weights::read(&FILE[..length]).is_none(), "{length}");
        }
    }
}
