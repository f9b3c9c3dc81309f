//! All that a model makes of one question.

use std::sync::Arc;

use super::Vector;

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
}
