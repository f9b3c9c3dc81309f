//! Ranking: from evidence to hits with a calibrated relevance, ordered by relevance and features.

mod collapse;
mod context;
mod feature;
mod fusion;
mod priors;
mod score;

pub use self::feature::Question;
pub(super) use self::feature::RankStep;
pub(super) use self::fusion::ordered;
pub use self::score::rank;
pub(super) use self::score::{best_cosine, rank_apart};

#[cfg(test)]
mod tests;
