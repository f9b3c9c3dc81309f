//! From signs to an order: by their sum, or by reciprocal ranks. Equally good ones are ordered by time.

use std::cmp::Ordering;

use super::{parts::Ranks, rank::Hit};
use crate::{config::Fusion, models::log_odds};

/// Hits that differ by less, in log-odds, are equally relevant; the newer goes first.
const TIE: f32 = 0.1;
/// What is added to every rank: the usual value, by which the first places do not outweigh all others.
const RRF_K: f32 = 60.0;

/// Sorts hits, the best first.
pub(super) fn order(hits: &mut Vec<Hit>, fusion: Fusion) {
    match fusion {
        Fusion::Weighted => {
            for hit in hits.iter_mut() {
                hit.parts.order = log_odds(hit.score) + hit.parts.standing;
            }
            // A step of TIE is one rank, so that this is an order and not a matter of who is
            // compared with whom.
            sort(hits, |hit| (hit.parts.order / TIE).floor());
        }
        Fusion::Rrf => {
            reciprocal(hits);
            sort(hits, |hit| hit.parts.order);
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
    let cosine = ranks(hits, |hit| hit.parts.cosine);
    let words = ranks(hits, |hit| hit.parts.window.filter(|found| *found > 0.0));
    let standing = ranks(hits, |hit| Some(hit.parts.standing));
    let all = cosine.into_iter().zip(words).zip(standing);
    for (hit, ((cosine, words), standing)) in hits.iter_mut().zip(all) {
        let share = |rank: Option<u16>| rank.map_or(0.0, |rank| 1.0 / (RRF_K + f32::from(rank)));
        hit.parts.order = share(cosine) + share(words) + share(standing);
        hit.parts.ranks = standing.map(|standing| Ranks { cosine, words, standing });
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
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        memory::{Memory, MemoryId, MemoryType, Owner, Source},
        recall::Parts,
    };

    fn hit(content: &str, cosine: Option<f32>, window: f32, standing: f32) -> Hit {
        let memory = Memory::new(
            MemoryId::derived(&[content]),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        let window = Some(window);
        Hit { memory, score: 0.5, parts: Parts { cosine, window, standing, ..Parts::default() } }
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
        assert_eq!(hits[0].parts.ranks, Some(Ranks { cosine: Some(1), words: None, standing: 1 }));
        assert!((hits[0].parts.order - 2.0 / 61.0).abs() < 1e-6);
        assert!((hits[1].parts.order - 1.0 / 61.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_lost_by_sorting() {
        let hits: Vec<Hit> = (0..50_u8).map(|n| hit(&n.to_string(), None, 0.0, 0.0)).collect();
        for fusion in [Fusion::Weighted, Fusion::Rrf] {
            assert_eq!(ordered(hits.clone(), fusion).len(), 50);
        }
    }
}
