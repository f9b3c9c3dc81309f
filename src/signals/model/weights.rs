//! The trained weights, read from the file that tools/train_signals.py writes.

use std::sync::LazyLock;

use crate::classify::{Linear, is_whole, number, take};

/// The file, and the digest it must have.
const FILE: &[u8] = include_bytes!("weights.bin");
const SHA256: &str = include_str!("weights.sha256");

const MAGIC: &[u8] = b"MGSIGN01";

/// The greatest hash in bits that is believed.
const MOST_BITS: u32 = 24;

/// `None` when the file is not what the trainer wrote; a test sees to that.
static WEIGHTS: LazyLock<Option<Weights>> =
    LazyLock::new(|| is_whole(FILE, SHA256).then(|| Weights::read(FILE)).flatten());

/// The digest of the weights of this build, lower-case hexadecimal.
#[must_use]
pub fn weights_sha256() -> &'static str {
    SHA256.trim()
}

/// Five models over one space of features.
pub(super) struct Weights {
    /// Bits of the features' hash.
    pub(super) bits: u32,
    /// Numbers that the embedding model's layers and its vector have.
    pub(super) dense: usize,
    /// Above which memory is searched.
    pub(super) thresholds: Thresholds,
    /// Whether memory could help, with the embedding model's layers and vector.
    pub(super) search: Linear,
    /// The same by words alone.
    pub(super) words: Linear,
    /// Whether the message asks for what a tool does.
    pub(super) tool: Linear,
    /// Whether it is small talk.
    pub(super) greeting: Linear,
    /// Whether it refers to the speaker's own life.
    pub(super) personal: Linear,
}

/// Probabilities above which memory is searched. The trainer finds them by what mistakes cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thresholds {
    /// By the whole model.
    pub(super) model: f64,
    /// By words alone, where nothing better is to be had.
    pub(super) words: f64,
    /// By words alone, where the whole model would hardly ever say otherwise.
    pub(super) surely: f64,
}

impl Weights {
    /// The weights of this build.
    pub(super) fn get() -> Option<&'static Self> {
        WEIGHTS.as_ref()
    }

    fn read(file: &'static [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let bits = u32::from_le_bytes(take(&mut rest)?);
        let dense = u32::from_le_bytes(take(&mut rest)?) as usize;
        let mut threshold = || number(&mut rest);
        let thresholds =
            Thresholds { model: threshold()?, words: threshold()?, surely: threshold()? };
        if bits > MOST_BITS {
            return None;
        }
        let search = Linear::read(&mut rest, dense, 1 << bits)?;
        let mut model = || Linear::read(&mut rest, 0, 1 << bits);
        let (words, tool, greeting, personal) = (model()?, model()?, model()?, model()?);
        let whole = rest.is_empty();
        whole.then_some(Self { bits, dense, thresholds, search, words, tool, greeting, personal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_file_is_the_one_that_was_trained() {
        let weights = Weights::get();
        assert!(weights.is_some(), "run tools/train_signals.py");
        // Who is less sure must have a better reason to skip.
        let of = weights.map(|weights| weights.thresholds);
        assert!(of.is_some_and(|of| of.surely < of.words && of.words < of.model), "{of:?}");
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
