//! The settings of recall. The configuration embeds these types as `memory.query` and `memory.ranking`; their docs and
//! bounds become its schema.

mod query;
mod ranking;

pub use self::query::QueryConfig;
pub use self::ranking::{Fusion, RankingConfig, RankingWeights, TypeWeights};
