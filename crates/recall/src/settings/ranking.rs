//! The `memory.ranking:` section: the order of the memories that were found, and which of those above the threshold are
//! left out. The threshold compares with the calibrated relevance alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the order of the memories that were found. The threshold does not depend on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RankingConfig {
    /// How all signs together become one order.
    pub fusion: Fusion,
    /// Maximum weight that each sign adds to a memory's relevance, in log-odds; 0 switches it off.
    pub weights: RankingWeights,
    /// How much each type of memory counts; only the ratios matter.
    pub types: TypeWeights,
    /// After so many days `weights.recency` counts half, after twice as many a quarter.
    #[schemars(range(min = 0.1, max = 36500.0))]
    pub half_life_days: f32,
    /// Whether a memory that says what a better one says is left out.
    pub deduplicate: bool,
    /// Maximum memories per session; 0 = unlimited.
    #[schemars(range(max = 50))]
    pub max_per_session: usize,
}

/// How signs become one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// By the sum of relevance and weights.
    #[default]
    Weighted,
    /// By the sum of `1 / (60 + rank)` over three ranks: by cosine, by words, and by the sum of the weights.
    Rrf,
}

/// Maximum weight of each sign, in log-odds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RankingWeights {
    /// The query's words, found in it or in what was said just before it.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub window: f32,
    /// The best memories of its session: their words, and a sixth of it for their cosine.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub session: f32,
    /// Somebody said it whom the query names.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub speaker: f32,
    /// It was said at a time that the query names.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub date: f32,
    /// It is new, see `half_life_days`.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub recency: f32,
    /// It matters: added at importance 1, taken off at 0.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub importance: f32,
}

/// How much each type of memory counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TypeWeights {
    /// Events and turns.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub episodic: f32,
    /// Facts.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub semantic: f32,
    /// How something is done.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub procedural: f32,
    /// Conclusions from several memories.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub reflective: f32,
    /// Every type of your own.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub other: f32,
}

impl Default for RankingConfig {
    fn default() -> Self {
        Self {
            fusion: Fusion::Weighted,
            weights: RankingWeights::default(),
            types: TypeWeights::default(),
            half_life_days: 30.0,
            deduplicate: true,
            max_per_session: 0,
        }
    }
}

impl Default for RankingWeights {
    fn default() -> Self {
        Self { window: 12.0, session: 12.0, speaker: 4.0, date: 2.0, recency: 0.1, importance: 0.2 }
    }
}

impl Default for TypeWeights {
    fn default() -> Self {
        Self { episodic: 0.30, semantic: 0.25, procedural: 0.15, reflective: 0.20, other: 0.20 }
    }
}

impl TypeWeights {
    /// The weight of a type.
    #[must_use]
    pub fn of(&self, memory_type: &str) -> f32 {
        use memgate_core::memory::MemoryType;
        match memory_type {
            MemoryType::EPISODIC => self.episodic,
            MemoryType::SEMANTIC => self.semantic,
            MemoryType::PROCEDURAL => self.procedural,
            MemoryType::REFLECTIVE => self.reflective,
            _ => self.other,
        }
    }
}
