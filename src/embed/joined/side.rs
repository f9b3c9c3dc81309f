//! How the vectors of several models become one. Pure arithmetic.

use crate::embed::{Member, Vector};

/// What each model's vector is in a joined one.
pub(super) struct Sides(Vec<Side>);

struct Side {
    /// Its weight, of the sum of all.
    share: f32,
    /// Numbers in its vector.
    dimension: usize,
}

impl Sides {
    /// Of models in the order of their vectors.
    pub(super) fn of(members: &[Member]) -> Self {
        let sum: f32 = members.iter().map(|member| member.weight).sum();
        let side = |member: &Member| Side {
            share: member.weight / sum,
            dimension: member.space.dimension,
        };
        Self(members.iter().map(side).collect())
    }

    /// A vector of each model, all of length 1: joined, of length 1.
    pub(super) fn join<'a>(&self, vectors: impl Iterator<Item = &'a Vector>) -> Vector {
        let scaled = self.0.iter().zip(vectors).flat_map(|(side, vector)| {
            let length = side.share.sqrt();
            vector.iter().map(move |number| number * length)
        });
        scaled.collect()
    }

    /// The vectors of some models, with zeros for the others: joined, of length 1, and the share of
    /// those that are there. None of none.
    pub(super) fn join_some(&self, vectors: &[Option<Vector>]) -> Option<(Vector, f32)> {
        let there = self.0.iter().zip(vectors).filter(|(_, vector)| vector.is_some());
        let share: f32 = there.map(|(side, _)| side.share).sum();
        if share <= 0.0 {
            return None;
        }
        let mut joined = Vec::with_capacity(self.0.iter().map(|side| side.dimension).sum());
        for (side, vector) in self.0.iter().zip(vectors) {
            match vector {
                Some(vector) => {
                    let length = (side.share / share).sqrt();
                    joined.extend(vector.iter().map(|number| number * length));
                }
                None => joined.resize(joined.len() + side.dimension, 0.0),
            }
        }
        Some((joined.into(), share))
    }
}
