//! What a memory adds by itself, whatever was asked: its type, its age, how much it matters, how sure it is, how
//! often it was presented, and whether it tells of what holds now.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;

use super::rank::Hit;
use crate::{memory::Memory, recall::settings::RankingConfig};

/// Presented so often, a memory's access counts in full.
const OFTEN: f32 = 100.0;
/// Where a statement is looked through for what tells that it is over, in bytes: above any statement of a user.
const LOOKED_AT: usize = 1_024;

const SECONDS_A_DAY: f32 = 86_400.0;

/// Words by which a statement tells that it is over.
static OVER: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i)\b(?:used to|formerly|previously|no longer|not any ?more|früher|ehemals|nicht mehr|autrefois|jadis|ne \w+ plus|antes|ya no|antigamente|já não|não mais)\b|以前|曾经|曾經|不再|昔は|かつて|पहले";
    #[expect(clippy::expect_used, reason = "a constant, held by a test")]
    Regex::new(words).expect("a constant")
});

/// Adds it. Tells how many hits stand elsewhere by it.
pub(super) fn place(hits: &mut [Hit], ranking: &RankingConfig, now: Timestamp) -> usize {
    let mut counted = 0;
    for hit in hits {
        let (memory, added) = (&hit.memory, &mut hit.parts.added);
        let kind = ranking.types.of(memory.memory_type.as_str());
        added.kind = (kind / ranking.types.semantic).ln();
        added.temporal = match ranking.past == ranking.current {
            true => 0.0,
            false if is_past(memory, now) => ranking.past.ln(),
            false => ranking.current.ln(),
        };
        let weights = &ranking.weights;
        added.recency = weights.recency * newness(memory, now, ranking.half_life_days);
        added.importance = weights.importance * (2.0 * memory.importance.clamp(0.0, 1.0) - 1.0);
        // What a user said in so many words nobody rates.
        let sure = memory.confidence.unwrap_or(1.0).clamp(0.0, 1.0);
        added.confidence = -weights.confidence * (1.0 - sure);
        let times = memory.access_count.min(OFTEN as u64) as f32;
        added.access = weights.access * (1.0 + times).ln() / (1.0 + OFTEN).ln();
        counted += usize::from(
            added.kind != 0.0 || added.importance != 0.0 || added.access != 0.0 || sure < 1.0,
        );
    }
    counted
}

/// 1 for what was just written, half of it after each half-life.
fn newness(memory: &Memory, now: Timestamp, half_life: f32) -> f32 {
    let seconds = now.as_second().saturating_sub(memory.updated_at.as_second()).max(0);
    (-(seconds as f32) / SECONDS_A_DAY / half_life).exp2()
}

/// Whether a memory tells of what is over. A turn tells of several things, so its words do not decide.
fn is_past(memory: &Memory, now: Timestamp) -> bool {
    if memory.valid_until.is_some_and(|end| end <= now) {
        return true;
    }
    let start = &memory.content[..memory.content.floor_char_boundary(LOOKED_AT)];
    memory.as_turn().is_none() && OVER.is_match(start)
}
