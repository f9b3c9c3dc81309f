//! Priors: features of a memory that do not depend on the query. Its type, age and importance.

use jiff::Timestamp;

use crate::{
    hit::Hit,
    ranking::feature::{Feature, Question, RankStep},
    settings::RankingConfig,
};
use memgate_core::memory::Memory;

const SECONDS_A_DAY: f32 = 86_400.0;

/// The priors. They concern the hits that one of them moves, recency aside.
pub(super) struct PriorFeatures;

impl Feature for PriorFeatures {
    fn step(&self) -> RankStep {
        RankStep::Priors
    }

    fn apply(&self, question: &Question<'_>, ranking: &RankingConfig, hits: &mut [Hit]) -> usize {
        let now = question.now;
        let mut counted = 0;
        for hit in hits {
            let (memory, features) = (&hit.memory, &mut hit.breakdown.features);
            let kind = ranking.types.of(memory.memory_type.as_str());
            features.kind = (kind / ranking.types.semantic).ln();
            let weights = &ranking.weights;
            features.recency = weights.recency * newness(memory, now, ranking.half_life_days);
            features.importance =
                weights.importance * (2.0 * memory.importance.clamp(0.0, 1.0) - 1.0);
            counted += usize::from(features.kind != 0.0 || features.importance != 0.0);
        }
        counted
    }
}

/// 1 for what was just written, half of it after each half-life.
fn newness(memory: &Memory, now: Timestamp, half_life: f32) -> f32 {
    let seconds = now.as_second().saturating_sub(memory.updated_at.as_second()).max(0);
    (-(seconds as f32) / SECONDS_A_DAY / half_life).exp2()
}
