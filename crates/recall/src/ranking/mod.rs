//! Ranking: from evidence to hits with a calibrated relevance, ordered by relevance and features.

mod context;
mod entities;
mod feature;
mod fusion;
mod neighbours;
mod priors;
mod score;

pub use self::feature::Question;
pub use self::score::rank;
pub(super) use self::{entities::QueryNames, fusion::ordered};

#[cfg(test)]
mod tests;
