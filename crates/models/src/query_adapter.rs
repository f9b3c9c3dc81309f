//! Turns a question's vector towards the memories that answer it.
//!
//! A sentence model puts a question near texts about the same thing; what helps is often about
//! another: "suggest a film" wants "I can't stomach blood". A matrix near the identity, trained by
//! `tools/train_adapter.py`, moves the question, and only that: stored vectors stay what they are.
//! docs/quality.md has the figures.

use std::ops::Range;

use crate::{
    Unreadable,
    tensors::{Tensors, wrong},
};
use memgate_embed::{Vector, dot};

/// The tensor of the matrix.
const MATRIX: &str = "query_adapter.matrix";

/// A matrix: its product with a question's vector is added to the vector.
#[derive(Debug)]
pub struct QueryAdapter {
    /// Row by row; a row makes one number of what is added.
    rows: Vec<f32>,
    /// The numbers of a vector that it turns: those of the model it was trained with.
    place: Range<usize>,
}

impl QueryAdapter {
    /// The matrix for vectors whose numbers at `place` are those of the model it was trained with.
    pub(super) fn read(tensors: &Tensors, place: Range<usize>) -> Result<Self, Unreadable> {
        let (matrix, shape) = tensors.bytes(MATRIX)?;
        if shape != [place.len(), place.len()] {
            return Err(wrong(MATRIX, "of another size than the embedder's vectors"));
        }
        Ok(Self::of(tensors.number("query_adapter.scale")?, matrix, place))
    }

    /// `scale`: what one step of the matrix, signed bytes, is worth.
    fn of(scale: f32, matrix: &[u8], place: Range<usize>) -> Self {
        let rows = matrix.iter().map(|byte| scale * f32::from(byte.cast_signed())).collect();
        Self { rows, place }
    }

    /// The question's vector, turned; as long as before, and so is its part.
    #[must_use]
    pub fn turn(&self, question: &Vector) -> Vector {
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
mod tests {
    use super::*;

    fn adapter(scale: f32, rows: &[i8], place: Range<usize>) -> QueryAdapter {
        let rows: Vec<u8> = rows.iter().map(|x| x.cast_unsigned()).collect();
        QueryAdapter::of(scale, &rows, place)
    }

    #[test]
    fn a_question_is_turned_and_stays_of_length_one() {
        // The second number gets half of the first.
        let turned = adapter(0.5, &[0, 0, 1, 0], 0..2).turn(&[1.0, 0.0].into());
        let expected = [1.0 / 1.25_f32.sqrt(), 0.5 / 1.25_f32.sqrt()];
        assert!(turned.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{turned:?}");
        let nowhere = adapter(1.0, &[-1], 0..1).turn(&[1.0].into());
        assert_eq!(*nowhere, [1.0], "a vector without a direction is not one");
    }

    #[test]
    fn of_several_models_only_the_part_of_its_own_is_turned_and_keeps_its_length() {
        let adapter = adapter(0.5, &[0, 0, 1, 0], 1..3);
        let turned = adapter.turn(&[0.8, 0.6, 0.0].into());
        let expected = [0.8, 0.6 / 1.25_f32.sqrt(), 0.3 / 1.25_f32.sqrt()];
        assert!(turned.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{turned:?}");
        // Its model gave no vector.
        assert_eq!(*adapter.turn(&[1.0, 0.0, 0.0].into()), [1.0, 0.0, 0.0]);
    }
}
