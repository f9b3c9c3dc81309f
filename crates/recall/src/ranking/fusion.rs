//! From relevance and features to an order: by their sum, or by reciprocal ranks. Ties are ordered by time.

use std::cmp::Ordering;

use crate::{
    hit::{FeatureRanks, Hit},
    ranking::collapse::facts_or_turns,
    settings::Fusion,
};
use memgate_models::log_odds;

/// Hits that differ by less, in log-odds, are equally relevant; the newer goes first.
const TIE: f32 = 0.1;
/// Constant added to every rank: the usual value, by which the first places do not outweigh all
/// others.
const RRF_K: f32 = 60.0;

/// Best first, turns joined with the statements taken from them. Returns also the hits that others stand for.
pub(crate) fn ordered(mut hits: Vec<Hit>, fusion: Fusion) -> (Vec<Hit>, Vec<Hit>) {
    order(&mut hits, fusion);
    facts_or_turns(hits)
}

/// Sorts hits, the best first.
fn order(hits: &mut Vec<Hit>, fusion: Fusion) {
    match fusion {
        Fusion::Weighted => {
            for hit in hits.iter_mut() {
                hit.breakdown.order = log_odds(hit.score) + hit.breakdown.boost;
            }
            // Values within a step of TIE are equal, which makes this a total order.
            sort(hits, |hit| (hit.breakdown.order / TIE).floor());
        }
        Fusion::Rrf => {
            reciprocal(hits);
            sort(hits, |hit| hit.breakdown.order);
        }
    }
}

/// Sorts places rather than hits, which are large.
fn sort(hits: &mut Vec<Hit>, value: impl Fn(&Hit) -> f32) {
    let mut places: Vec<(f32, usize)> = hits.iter().map(value).zip(0..).collect();
    let by_age = |a: &Hit, b: &Hit| -> Ordering {
        let newer = b.memory.updated_at.cmp(&a.memory.updated_at);
        newer.then_with(|| a.memory.id.cmp(&b.memory.id))
    };
    places.sort_unstable_by(|(a, at), (b, of)| {
        b.total_cmp(a).then_with(|| by_age(&hits[*at], &hits[*of]))
    });
    let mut from: Vec<Option<Hit>> = std::mem::take(hits).into_iter().map(Some).collect();
    hits.extend(places.into_iter().filter_map(|(_, place)| from[place].take()));
}

/// The sum of reciprocal ranks, over the kinds of evidence that there are.
fn reciprocal(hits: &mut [Hit]) {
    let cosine = ranks(hits, |hit| hit.breakdown.cosine);
    let lexical = ranks(hits, |hit| hit.breakdown.window.filter(|found| *found > 0.0));
    let boost = ranks(hits, |hit| Some(hit.breakdown.boost));
    let all = cosine.into_iter().zip(lexical).zip(boost);
    for (hit, ((cosine, lexical), boost)) in hits.iter_mut().zip(all) {
        let share = |rank: Option<u16>| rank.map_or(0.0, |rank| 1.0 / (RRF_K + f32::from(rank)));
        hit.breakdown.order = share(cosine) + share(lexical) + share(boost);
        hit.breakdown.ranks = boost.map(|boost| FeatureRanks { cosine, lexical, boost });
    }
}

/// The place of each hit by one kind of evidence, from 1; equal ones share the better place.
fn ranks(hits: &[Hit], value: impl Fn(&Hit) -> Option<f32>) -> Vec<Option<u16>> {
    let mut found: Vec<(f32, usize)> =
        hits.iter().zip(0..).filter_map(|(hit, at)| Some((value(hit)?, at))).collect();
    found.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut ranks = vec![None; hits.len()];
    let mut last: Option<(f32, u16)> = None;
    for (place, (value, at)) in (1..=u16::MAX).zip(found) {
        let rank = last.filter(|(before, _)| *before == value).map_or(place, |(_, rank)| rank);
        last = Some((value, rank));
        ranks[at] = Some(rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};

    fn hit(content: &str, cosine: Option<f32>, window: f32, boost: f32) -> Hit {
        let memory = Memory::new(
            MemoryId::derived(&[content]),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        let window = Some(window);
        Hit {
            scope: crate::HitScope::default(),
            memory,
            score: 0.5,
            breakdown: ScoreBreakdown { cosine, window, boost, ..ScoreBreakdown::default() },
        }
    }

    fn ordered(mut hits: Vec<Hit>, fusion: Fusion) -> Vec<String> {
        order(&mut hits, fusion);
        hits.into_iter().map(|hit| hit.memory.content).collect()
    }

    #[test]
    fn a_sum_is_led_by_what_is_far_ahead_and_ranks_by_what_is_ahead_often() {
        let hits = || {
            vec![
                hit("far ahead once", Some(0.1), 0.1, 20.0),
                hit("ahead twice", Some(0.9), 0.9, 2.0),
                hit("between", Some(0.5), 0.5, 3.0),
            ]
        };
        assert_eq!(ordered(hits(), Fusion::Weighted)[0], "far ahead once");
        assert_eq!(ordered(hits(), Fusion::Rrf)[0], "ahead twice");
    }

    #[test]
    fn ranks_are_told_and_summed_over_the_evidence_that_there_is() {
        let mut hits = vec![hit("a", None, 0.0, 1.0), hit("b", Some(0.4), 0.0, 1.0)];
        order(&mut hits, Fusion::Rrf);
        assert_eq!(
            hits[0].breakdown.ranks,
            Some(FeatureRanks { cosine: Some(1), lexical: None, boost: 1 })
        );
        assert!((hits[0].breakdown.order - 2.0 / 61.0).abs() < 1e-6);
        assert!((hits[1].breakdown.order - 1.0 / 61.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_lost_by_sorting() {
        let hits: Vec<Hit> = (0..50_u8).map(|n| hit(&n.to_string(), None, 0.0, 0.0)).collect();
        for fusion in [Fusion::Weighted, Fusion::Rrf] {
            assert_eq!(ordered(hits.clone(), fusion).len(), 50);
        }
    }
}
