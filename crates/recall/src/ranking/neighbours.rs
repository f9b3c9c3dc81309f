//! The neighbour feature: what was said just before and just after a memory. It lifts an answer beside the question that
//! the query resembles. Only hits count as neighbours, so nothing more is read.

use crate::{
    hit::Hit,
    ranking::feature::{Feature, Question},
    settings::RankingConfig,
};
use memgate_telemetry::RankStep;

/// Turns further apart, in seconds, do not answer each other. On LoCoMo (26 and 42) any bound above two minutes does
/// alike.
const BESIDE: i64 = 300;

/// Adds a share of the neighbours' cosines. It concerns the hits that it lifts.
pub(super) struct NeighbourFeature;

impl Feature for NeighbourFeature {
    fn step(&self) -> RankStep {
        RankStep::Neighbours
    }

    fn is_on(&self, ranking: &RankingConfig) -> bool {
        ranking.weights.neighbours > 0.0
    }

    fn apply(&self, _: &Question<'_>, ranking: &RankingConfig, hits: &mut [Hit]) -> usize {
        lift(hits, ranking.weights.neighbours)
    }
}

fn lift(hits: &mut [Hit], weight: f32) -> usize {
    // Those of one session and type beside each other, in the order in which they were said.
    let mut said: Vec<((&str, &str), i64, usize)> = (0..)
        .zip(hits.iter())
        .filter_map(|(at, hit)| {
            let memory = &hit.memory;
            let session = memory.session_id.as_deref()?;
            let when = memory.event_time.unwrap_or(memory.created_at).as_second();
            Some(((session, memory.memory_type.as_str()), when, at))
        })
        .collect();
    said.sort_unstable();
    let cosine = |at: usize| hits[at].breakdown.cosine.unwrap_or(0.0).max(0.0);
    let mut lifted: Vec<(usize, f32)> = Vec::with_capacity(2 * said.len());
    for pair in said.windows(2) {
        let [(session, when, one), (same, later, other)] = pair else { continue };
        if session == same && later - when <= BESIDE {
            lifted.extend([(*one, cosine(*other)), (*other, cosine(*one))]);
        }
    }
    drop(said);
    for (at, cosine) in &lifted {
        hits[*at].breakdown.features.neighbours += weight * cosine;
    }
    hits.iter().filter(|hit| hit.breakdown.features.neighbours > 0.0).count()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};

    fn hit(session: &str, kind: &str, second: i64, cosine: Option<f32>) -> Hit {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(kind),
            "c",
            Source::ExplicitUserInput,
            Timestamp::from_second(second).unwrap(),
        );
        memory.session_id = Some(session.to_owned());
        Hit {
            memory,
            score: 0.5,
            breakdown: ScoreBreakdown { cosine, ..ScoreBreakdown::default() },
        }
    }

    #[test]
    fn what_stands_beside_a_near_memory_is_lifted_and_nothing_else() {
        let mut hits = vec![
            hit("s", "episodic", 120, Some(0.1)),
            hit("s", "episodic", 60, Some(0.8)),
            hit("s", "episodic", 0, Some(-0.2)),
            hit("s", "semantic", 60, Some(0.3)),
            hit("t", "episodic", 61, Some(0.3)),
            hit("s", "episodic", 120 + BESIDE + 1, None),
        ];
        assert_eq!(lift(&mut hits, 2.0), 3);
        let features: Vec<f32> = hits.iter().map(|hit| hit.breakdown.features.neighbours).collect();
        assert_eq!(features, [1.6, 0.2, 1.6, 0.0, 0.0, 0.0]);
    }
}
