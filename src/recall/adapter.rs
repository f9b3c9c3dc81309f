//! Turns a question's vector towards the memories that answer it.
//!
//! A sentence model puts a question near texts about the same thing; what helps is often about
//! another: "suggest a film" wants "I can't stomach blood". A matrix near the identity, trained by
//! `tools/train_adapter.py`, moves the question, and only that: stored vectors stay what they are.
//! docs/quality.md has the figures.

use std::ops::Range;

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
    /// The numbers of a vector that it turns: those of the model it was trained with.
    place: Range<usize>,
}

impl Adapter {
    /// The matrix for questions of a space; none where it was trained with another model.
    pub(super) fn of(space: &Space) -> Option<Self> {
        let whole = is_whole(FILE, SHA256);
        if !whole {
            tracing::error!("the trained matrix for questions is damaged and not used");
        }
        let place = space.place_of(trained_with).filter(|_| whole)?;
        Self::read(FILE, place)
    }

    /// Magic, dimension, what one step is worth, and a byte a number.
    fn read(file: &[u8], place: Range<usize>) -> Option<Self> {
        let dimension = place.len();
        let mut rest = file.strip_prefix(MAGIC)?;
        let stated = u32::from_le_bytes(take(&mut rest)?) as usize;
        let step = number(&mut rest)? as f32;
        if stated != dimension || rest.len() != dimension.checked_mul(dimension)? {
            return None;
        }
        let rows = rest.iter().map(|byte| step * f32::from(byte.cast_signed())).collect();
        Some(Self { rows, place })
    }

    /// The question's vector, turned; as long as before, and so is its part.
    pub(super) fn turn(&self, question: &Vector) -> Vector {
        let Some(part) = question.get(self.place.clone()) else { return question.clone() };
        let added = self.rows.chunks_exact(part.len().max(1)).map(|row| dot(row, part));
        let turned: Vec<f32> = part.iter().zip(added).map(|(x, added)| x + added).collect();
        let [before, after] = [part, &turned].map(|vector| dot(vector, vector).sqrt());
        if after <= f32::MIN_POSITIVE {
            return question.clone();
        }
        let mut question = question.to_vec();
        for (number, turned) in question[self.place.clone()].iter_mut().zip(turned) {
            *number = turned * before / after;
        }
        question.into()
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
        assert!(Adapter::read(FILE, 0..384).is_some());
    }

    #[test]
    fn a_question_is_turned_and_stays_of_length_one() {
        // The second number gets half of the first.
        let adapter = Adapter::read(&file(2, 0.5, &[0, 0, 1, 0]), 0..2).unwrap();
        let turned = adapter.turn(&[1.0, 0.0].into());
        let expected = [1.0 / 1.25_f32.sqrt(), 0.5 / 1.25_f32.sqrt()];
        assert!(turned.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{turned:?}");
        let nowhere = Adapter::read(&file(1, 1.0, &[-1]), 0..1).unwrap();
        assert_eq!(*nowhere.turn(&[1.0].into()), [1.0], "a vector without a direction is not one");
    }

    #[test]
    fn of_several_models_only_the_part_of_its_own_is_turned_and_keeps_its_length() {
        let adapter = Adapter::read(&file(2, 0.5, &[0, 0, 1, 0]), 1..3).unwrap();
        let turned = adapter.turn(&[0.8, 0.6, 0.0].into());
        let expected = [0.8, 0.6 / 1.25_f32.sqrt(), 0.3 / 1.25_f32.sqrt()];
        assert!(turned.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{turned:?}");
        // Its model gave no vector.
        assert_eq!(*adapter.turn(&[1.0, 0.0, 0.0].into()), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_file_of_another_size_or_kind_is_refused() {
        let whole = file(2, 0.5, &[0, 0, 1, 0]);
        assert!(Adapter::read(&whole, 0..3).is_none());
        for length in 0..whole.len() {
            assert!(Adapter::read(&whole[..length], 0..2).is_none(), "{length}");
        }
        assert!(Adapter::read(&[&whole[..], b"x"].concat(), 0..2).is_none());
        assert!(Adapter::read(&file(2, f32::NAN, &[0; 4]), 0..2).is_none());
    }

    #[test]
    fn questions_of_another_model_stay_as_they_are() {
        assert!(Adapter::of(DeterministicEmbedder::new(384).space()).is_none());
    }
}
