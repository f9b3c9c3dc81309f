//! Everything a model computes for one query.

use std::sync::Arc;

use crate::{EmbedError, Vector};

/// Mean over the tokens of each inner layer's output, concatenated. Not normalised.
pub type Layers = Arc<[f32]>;

/// The result of embedding a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The vector to search with.
    pub vector: Vector,
    /// The inner layers; `None` from models that do not provide them, such as those on a server.
    pub layers: Option<Layers>,
    /// The missing part, if only some models of an ensemble gave the vector.
    pub partial: Option<Partial>,
}

impl Reading {
    /// A complete result.
    #[must_use]
    pub fn whole(vector: Vector, layers: Option<Layers>) -> Self {
        Self { vector, layers, partial: None }
    }
}

/// The missing part of a query vector. The numbers of the missing models are 0, and the vector is
/// normalised all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// Share of the total weight that the answering models have; above 0. A dot product with a
    /// passage's vector, divided by the square root of this, is the weighted mean of their cosines.
    pub share: f32,
    /// The models that failed or were late; empty where the others were not asked.
    pub missing: Vec<Missing>,
}

/// A model of an ensemble that returned no vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// Its name.
    pub model: String,
    /// The cause.
    pub error: EmbedError,
}
