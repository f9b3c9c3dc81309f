//! Combines the vectors of several models into one. Pure arithmetic.

use crate::{Member, Vector};

/// The share of each model in the combined vector.
pub(super) struct Combiner(Vec<Part>);

struct Part {
    /// Its share of the total weight.
    share: f32,
    /// Dimension of its vectors.
    dimension: usize,
}

impl Combiner {
    /// For models in the order of their vectors.
    pub(super) fn of(members: &[Member]) -> Self {
        let sum: f32 = members.iter().map(|member| member.weight).sum();
        let part = |member: &Member| Part {
            share: member.weight / sum,
            dimension: member.space.dimension,
        };
        Self(members.iter().map(part).collect())
    }

    /// Concatenates one normalised vector of each model into a normalised vector.
    pub(super) fn join<'a>(&self, vectors: impl Iterator<Item = &'a Vector>) -> Vector {
        let scaled = self.0.iter().zip(vectors).flat_map(|(part, vector)| {
            let length = part.share.sqrt();
            vector.iter().map(move |number| number * length)
        });
        scaled.collect()
    }

    /// Concatenates the vectors of some models, with zeros for the others, into a normalised
    /// vector; also returns the answering models' share of the weight. `None` if all are missing.
    pub(super) fn join_some(&self, vectors: &[Option<Vector>]) -> Option<(Vector, f32)> {
        let there = self.0.iter().zip(vectors).filter(|(_, vector)| vector.is_some());
        let share: f32 = there.map(|(part, _)| part.share).sum();
        if share <= 0.0 {
            return None;
        }
        let mut joined = Vec::with_capacity(self.0.iter().map(|part| part.dimension).sum());
        for (part, vector) in self.0.iter().zip(vectors) {
            match vector {
                Some(vector) => {
                    let length = (part.share / share).sqrt();
                    joined.extend(vector.iter().map(|number| number * length));
                }
                None => joined.resize(joined.len() + part.dimension, 0.0),
            }
        }
        Some((joined.into(), share))
    }
}
