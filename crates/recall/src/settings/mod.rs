//! The settings of recall. The configuration embeds these types as `memory.query`, `memory.ranking` and `memory.scopes`; their docs and
//! bounds become its schema.

mod query;
mod ranking;
mod scopes;

pub use self::query::QueryConfig;
pub use self::ranking::{Fusion, RankingConfig, RankingWeights, TypeWeights};
pub use self::scopes::{Publish, ScopesConfig};
