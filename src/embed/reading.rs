//! All that a model makes of one question.

use std::sync::Arc;

use super::{EmbedError, Vector};

/// The means over a text's tokens of what each inner layer of the model gives, one behind the
/// other: as many numbers as the model has. Not normalised.
pub type Layers = Arc<[f32]>;

/// What a model makes of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The vector to search with: what the question is about.
    pub vector: Vector,
    /// How it is put. `None` from a model that does not tell, such as one on a server.
    pub layers: Option<Layers>,
    /// What it lacks, where only some of several models gave a vector in time.
    pub partial: Option<Partial>,
}

impl Reading {
    /// All that was asked for.
    #[must_use]
    pub fn whole(vector: Vector, layers: Option<Layers>) -> Self {
        Self { vector, layers, partial: None }
    }
}

/// What is lacking of a question's vector. The numbers of the models that gave none are 0, and
/// the vector is of length 1 all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// The weights of the models that did give one, of the sum of all; above 0. The product with a
    /// passage's vector, divided by the root of this, is what those models find: the mean of their
    /// cosines, by their weights.
    pub share: f32,
    /// The others, at least one.
    pub missing: Vec<Missing>,
}

/// A model that gave no vector, when others did.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// Its name.
    pub model: String,
    /// Why.
    pub error: EmbedError,
}
