//! Merges the hits of several searches for one question.

use std::collections::HashMap;

use crate::{hit::Hit, ranking::ordered, settings::Fusion};
use memgate_core::memory::{MemoryId, Owner};

/// Each memory once, with the evidence of the search that it is most relevant to.
pub(super) fn merged(lists: Vec<Vec<Hit>>, fusion: Fusion) -> Vec<Hit> {
    merged_apart(lists, fusion).0
}

/// As [`merged`]; returns also the hits that others stand for.
pub(super) fn merged_apart(mut lists: Vec<Vec<Hit>>, fusion: Fusion) -> (Vec<Hit>, Vec<Hit>) {
    if lists.len() == 1 {
        return (lists.pop().unwrap_or_default(), Vec::new());
    }
    // An id is unique within its owner only.
    let mut best: HashMap<(Owner, MemoryId), Hit> = HashMap::new();
    for hit in lists.into_iter().flatten() {
        let key = (hit.memory.owner.clone(), hit.memory.id.clone());
        match best.get(&key) {
            Some(known) if known.score >= hit.score => {}
            _ => drop(best.insert(key, hit)),
        }
    }
    ordered(best.into_values().collect(), fusion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{Memory, MemoryType, Source};

    fn hits(found: &[(&str, f32)]) -> Vec<Hit> {
        let hit = |(content, score): &(&str, f32)| Hit {
            scope: crate::HitScope::default(),
            memory: Memory::new(
                MemoryId::derived(&[content]),
                Owner::of_user("u").unwrap(),
                MemoryType::new(MemoryType::SEMANTIC),
                *content,
                Source::ExplicitUserInput,
                jiff::Timestamp::UNIX_EPOCH,
            ),
            score: *score,
            breakdown: ScoreBreakdown::default(),
        };
        found.iter().map(hit).collect()
    }

    #[test]
    fn each_memory_stands_once_where_it_is_most_relevant() {
        let lists =
            vec![hits(&[("a", 0.9), ("b", 0.2)]), hits(&[("b", 0.7), ("a", 0.1), ("c", 0.5)])];
        let merged = merged(lists, Fusion::Weighted);
        let merged: Vec<_> = merged.iter().map(|hit| (&*hit.memory.content, hit.score)).collect();
        assert_eq!(merged, [("a", 0.9), ("b", 0.7), ("c", 0.5)]);
    }

    #[test]
    fn one_search_stays_what_it_is() {
        let found = hits(&[("a", 0.1), ("b", 0.2)]);
        assert_eq!(merged(vec![found.clone()], Fusion::Weighted), found);
        assert_eq!(merged(vec![], Fusion::Weighted), []);
    }
}
