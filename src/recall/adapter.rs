//! Turns a question's vector towards the memories that answer it.
//!
//! A sentence model puts a question near texts about the same thing; what helps is often about
//! another: "suggest a film" wants "I can't stomach blood". A matrix near the identity, trained by
//! `tools/train_adapter.py`, moves the question, and only that: stored vectors stay what they are.
//! docs/quality.md has the figures.

use crate::{
    classify::{is_whole, number, take, trained_with},
    embed::{Space, Vector, dot},
};

/// The file, and the digest it must have.
const FILE: &[u8] = include_bytes!("adapter.bin");
const SHA256: &str = include_str!("adapter.sha256");

const MAGIC: &[u8] = b"MGADPT01";

/// What is added to a question's vector, as a product with itself.
#[derive(Debug)]
pub(super) struct Adapter {
    /// Row by row; a row makes one number of what is added.
    rows: Vec<f32>,
}

impl Adapter {
    /// The matrix for questions of a space; none where it was trained with another model.
    pub(super) fn of(space: &Space) -> Option<Self> {
        let whole = is_whole(FILE, SHA256);
        if !whole {
            tracing::error!("the trained matrix for questions is damaged and not used");
        }
        (whole && trained_with(space)).then(|| Self::read(FILE, space.dimension)).flatten()
    }

    /// Magic, dimension, what one step is worth, and a byte a number.
    fn read(file: &[u8], dimension: usize) -> Option<Self> {
        let mut rest = file.strip_prefix(MAGIC)?;
        let stated = u32::from_le_bytes(take(&mut rest)?) as usize;
        let step = number(&mut rest)? as f32;
        if stated != dimension || rest.len() != dimension.checked_mul(dimension)? {
            return None;
        }
        Some(Self { rows: rest.iter().map(|byte| step * f32::from(byte.cast_signed())).collect() })
    }

    /// The question's vector, turned; of length 1 as before.
    pub(super) fn turn(&self, question: &Vector) -> Vector {
        let added = self.rows.chunks_exact(question.len().max(1)).map(|row| dot(row, question));
        let turned: Vec<f32> = question.iter().zip(added).map(|(x, added)| x + added).collect();
        let length = dot(&turned, &turned).sqrt();
        if length <= f32::MIN_POSITIVE {
            return question.clone();
        }
        turned.into_iter().map(|x| x / length).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::embed::{Embedder, deterministic::DeterministicEmbedder};

    fn file(dimension: u32, step: f32, rows: &[i8]) -> Vec<u8> {
        let rows = rows.iter().map(|x| x.cast_unsigned());
        [MAGIC, &dimension.to_le_bytes(), &step.to_le_bytes()]
            .concat()
            .into_iter()
            .chain(rows)
            .collect()
    }

    #[test]
    fn the_committed_file_is_the_one_that_was_trained() {
        assert!(is_whole(FILE, SHA256), "run tools/train_adapter.py");
        assert!(Adapter::read(FILE, 384).is_some());
    }

    #[test]
    fn a_question_is_turned_and_stays_of_length_one() {
        // The second number gets half of the first.
        let adapter = Adapter::read(&file(2, 0.5, &[0, 0, 1, 0]), 2).unwrap();
        let turned = adapter.turn(&[1.0, 0.0].into());
        let expected = [1.0 / 1.25_f32.sqrt(), 0.5 / 1.25_f32.sqrt()];
        assert!(turned.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{turned:?}");
        let nowhere = Adapter::read(&file(1, 1.0, &[-1]), 1).unwrap();
        assert_eq!(*nowhere.turn(&[1.0].into()), [1.0], "a vector without a direction is not one");
    }

    #[test]
    fn a_file_of_another_size_or_kind_is_refused() {
        let whole = file(2, 0.5, &[0, 0, 1, 0]);
        assert!(Adapter::read(&whole, 3).is_none());
        for length in 0..whole.len() {
            assert!(Adapter::read(&whole[..length], 2).is_none(), "{length}");
        }
        assert!(Adapter::read(&[&whole[..], b"x"].concat(), 2).is_none());
        assert!(Adapter::read(&file(2, f32::NAN, &[0; 4]), 2).is_none());
    }

    #[test]
    fn questions_of_another_model_stay_as_they_are() {
        assert!(Adapter::of(DeterministicEmbedder::new(384).space()).is_none());
    }
}
