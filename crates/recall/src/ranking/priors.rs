//! Priors: features of a memory that do not depend on the query. Its type, age, importance, confidence and access count,
//! and whether it holds now.

use jiff::Timestamp;

use crate::{
    hit::Hit,
    ranking::feature::{Feature, Question},
    settings::RankingConfig,
};
use memgate_core::memory::Memory;
use memgate_telemetry::RankStep;
use memgate_text::past::is_over;

/// The access count at which `weights.access` is added in full.
const OFTEN: f32 = 100.0;
/// How much of a statement is searched for words that say that it is over, in bytes: more than any statement of a user has.
const LOOKED_AT: usize = 1_024;

const SECONDS_A_DAY: f32 = 86_400.0;

/// The priors. They concern the hits that one of them moves, recency and time aside.
pub(super) struct PriorFeatures;

impl Feature for PriorFeatures {
    fn step(&self) -> RankStep {
        RankStep::Priors
    }

    fn is_on(&self, _: &RankingConfig) -> bool {
        true
    }

    fn apply(&self, question: &Question<'_>, ranking: &RankingConfig, hits: &mut [Hit]) -> usize {
        let now = question.now;
        let mut counted = 0;
        for hit in hits {
            let (memory, features) = (&hit.memory, &mut hit.breakdown.features);
            let kind = ranking.types.of(memory.memory_type.as_str());
            features.kind = (kind / ranking.types.semantic).ln();
            features.temporal = match ranking.past_factor == ranking.current_factor {
                true => 0.0,
                false if is_past(memory, now) => ranking.past_factor.ln(),
                false => ranking.current_factor.ln(),
            };
            let weights = &ranking.weights;
            features.recency = weights.recency * newness(memory, now, ranking.half_life_days);
            features.importance =
                weights.importance * (2.0 * memory.importance.clamp(0.0, 1.0) - 1.0);
            // Explicit statements carry no confidence; they count as 1.0.
            let sure = memory.confidence.unwrap_or(1.0).clamp(0.0, 1.0);
            features.confidence = -weights.confidence * (1.0 - sure);
            let times = memory.access_count.min(OFTEN as u64) as f32;
            features.access = weights.access * (1.0 + times).ln() / (1.0 + OFTEN).ln();
            counted += usize::from(
                features.kind != 0.0
                    || features.importance != 0.0
                    || features.access != 0.0
                    || sure < 1.0,
            );
        }
        counted
    }
}

/// 1 for what was just written, half of it after each half-life.
fn newness(memory: &Memory, now: Timestamp, half_life: f32) -> f32 {
    let seconds = now.as_second().saturating_sub(memory.updated_at.as_second()).max(0);
    (-(seconds as f32) / SECONDS_A_DAY / half_life).exp2()
}

/// Whether a memory is about what is over. A turn is about several things, so its words do not decide.
fn is_past(memory: &Memory, now: Timestamp) -> bool {
    if memory.valid_until.is_some_and(|end| end <= now) {
        return true;
    }
    let start = &memory.content[..memory.content.floor_char_boundary(LOOKED_AT)];
    memory.as_turn().is_none() && is_over(start)
}
