//! Boosts hits that meet conditions on their metadata. The conditions never exclude: a model read them out of the
//! question, and may have made them up.

use crate::{hit::Hit, pipeline::merge::merged, request::Selection, settings::RankingConfig};
use memgate_core::memory::{Filter, MemoryId, MemoryKind};

/// Boost of a memory that meets the conditions, in log-odds: as much as one of the time that the
/// query names.
const BOOST: f32 = 2.0;

/// Merges what was found and what was found among the memories that meet the conditions, and boosts these. The best hits
/// that would pass without the conditions, half as many as may be presented, go first, so that wrong conditions cannot
/// crowd them out; of near-duplicates among these one is presented.
pub(super) fn boosted(
    found: Vec<Hit>,
    narrowed: Vec<Hit>,
    conditions: &Filter,
    selection: &Selection,
    ranking: &RankingConfig,
) -> Vec<Hit> {
    let is_shown =
        |hit: &&Hit| hit.score >= selection.threshold && hit.memory.kind != MemoryKind::Summary;
    let first: Vec<MemoryId> = found
        .iter()
        .filter(is_shown)
        .take(selection.limit.div_ceil(2))
        .map(|hit| hit.memory.id.clone())
        .collect();
    let mut lists = vec![found, narrowed];
    // Before they are ordered: a statement hands its place to its turn, which may not meet the conditions.
    for hit in lists.iter_mut().flatten().filter(|hit| conditions.matches(&hit.memory)) {
        hit.breakdown.features.self_query = BOOST;
        hit.breakdown.boost = hit.breakdown.features.sum();
    }
    let mut hits = merged(lists, ranking.fusion);
    let place = |hit: &Hit| first.iter().position(|id| *id == hit.memory.id);
    hits.sort_by_cached_key(|hit| place(hit).unwrap_or(first.len()));
    hits
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{ScoreBreakdown, settings::Fusion};
    use memgate_core::memory::{Memory, MemoryType, Owner, Source};

    /// Hits of a content and a relevance; what begins with `x` has the tag `x`.
    fn hits(found: &[(&str, f32)]) -> Vec<Hit> {
        let hit = |(content, score): &(&str, f32)| {
            let mut memory = Memory::new(
                MemoryId::derived(&[content]),
                Owner::of_user("u").unwrap(),
                MemoryType::new(MemoryType::SEMANTIC),
                *content,
                Source::ExplicitUserInput,
                Timestamp::UNIX_EPOCH,
            );
            memory.tags = content.starts_with('x').then(|| "x".to_owned()).into_iter().collect();
            Hit {
                memory,
                scope: crate::HitScope::default(),
                score: *score,
                breakdown: ScoreBreakdown::default(),
            }
        };
        found.iter().map(hit).collect()
    }

    fn with(found: Vec<Hit>, narrowed: Vec<Hit>, ranking: &RankingConfig) -> Vec<Hit> {
        let selection = Selection { limit: 4, threshold: 0.6, types: Vec::new() };
        boosted(found, narrowed, &Filter::Tag("x".into()), &selection, ranking)
    }

    fn contents(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| &*hit.memory.content).collect()
    }

    #[test]
    fn what_meets_the_conditions_stands_higher_behind_the_best_of_the_others() {
        let found = hits(&[("a", 0.9), ("b", 0.88), ("c", 0.86), ("d", 0.84), ("x1", 0.8)]);
        let narrowed = hits(&[("x1", 0.8), ("x2", 0.7)]);
        for fusion in [Fusion::Weighted, Fusion::Rrf] {
            let ranking = RankingConfig { fusion, ..RankingConfig::default() };
            let all = with(found.clone(), narrowed.clone(), &ranking);
            let mut told = contents(&all);
            // The order of memories that are equally good in ranks means nothing.
            told[2..4].sort_unstable();
            told[4..].sort_unstable();
            assert_eq!(told, ["a", "b", "x1", "x2", "c", "d"], "{fusion:?}");
            for hit in &all {
                let lifted = hit.memory.content.starts_with('x');
                assert_eq!(hit.breakdown.features.self_query > 0.0, lifted);
            }
        }
    }

    #[test]
    fn conditions_lift_nothing_over_the_threshold() {
        let found = hits(&[("a", 0.9)]);
        let all = with(found, hits(&[("x1", 0.59)]), &RankingConfig::default());
        let scores: Vec<f32> = all.iter().map(|hit| hit.score).collect();
        assert_eq!((contents(&all), scores), (vec!["a", "x1"], vec![0.9, 0.59]));
    }

    #[test]
    fn what_is_not_relevant_enough_does_not_go_first() {
        let found = hits(&[("a", 0.5), ("b", 0.4)]);
        let all = with(found, hits(&[("x1", 0.7)]), &RankingConfig::default());
        assert_eq!(contents(&all), ["x1", "a", "b"]);
    }

    #[test]
    fn conditions_that_nothing_meets_change_nothing() {
        let found = hits(&[("a", 0.9), ("b", 0.5)]);
        assert_eq!(contents(&with(found, Vec::new(), &RankingConfig::default())), ["a", "b"]);
    }
}
