//! Selects the results of a search: the top k by dense and by lexical evidence, merged.

use std::cmp::Ordering;

use memgate_text::index::Lexical;

/// A memory in the searched scope with its evidence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<T> {
    /// Reference for the store to find it again.
    pub(super) place: T,
    /// The best cosine and the part that has it.
    pub(super) cosine: Option<(f32, u16)>,
    /// Lexical evidence, if the query has words.
    pub(super) lexical: Option<Lexical>,
}

/// The top `limit` by each kind of evidence of what is searched of one's own, and as many of what others share: neither
/// takes the other's places.
pub(super) fn top_k_apart<T: Copy>(
    candidates: Vec<Candidate<T>>,
    limit: usize,
    is_shared: impl Fn(&Candidate<T>) -> bool,
) -> Vec<Candidate<T>> {
    let (shared, own) = candidates.into_iter().partition(is_shared);
    let mut chosen = top_k(own, limit);
    chosen.extend(top_k(shared, limit));
    chosen
}

/// The top `limit` by each kind of evidence, without duplicates. Ties keep their order.
fn top_k<T: Copy>(candidates: Vec<Candidate<T>>, limit: usize) -> Vec<Candidate<T>> {
    let dense = top(&candidates, limit, |candidate| candidate.cosine.map(|(cosine, _)| cosine));
    let lexical = top(&candidates, limit, |candidate| {
        candidate.lexical.map(|found| found.window).filter(|score| *score > 0.0)
    });
    let mut chosen = vec![false; candidates.len()];
    let mut merged = Vec::with_capacity(dense.len() + lexical.len());
    for index in dense.into_iter().chain(lexical) {
        if !std::mem::replace(&mut chosen[index], true) {
            merged.push(candidates[index]);
        }
    }
    merged
}

/// The indexes of the top entries, best first.
fn top<T>(
    candidates: &[Candidate<T>],
    limit: usize,
    score: impl Fn(&Candidate<T>) -> Option<f32>,
) -> Vec<usize> {
    let scored = candidates.iter().enumerate();
    let mut scored: Vec<(f32, usize)> =
        scored.filter_map(|(index, candidate)| Some((score(candidate)?, index))).collect();
    let order = |a: &(f32, usize), b: &(f32, usize)| -> Ordering {
        b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
    };
    if limit < scored.len() {
        scored.select_nth_unstable_by(limit, order);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(order);
    scored.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_the_top_of_both_kinds_without_duplicates() {
        let candidates = [(0.9, 0.0), (0.5, 3.0), (0.5, 1.0), (0.1, 2.0), (-1.0, 0.0)];
        let candidates = (0..).zip(candidates).map(|(place, (cosine, window))| Candidate {
            place,
            cosine: Some((cosine, 0)),
            lexical: Some(Lexical { window, ..Lexical::default() }),
        });
        let places = |limit| -> Vec<i32> {
            top_k(candidates.clone().collect(), limit).iter().map(|c| c.place).collect()
        };
        assert_eq!(places(2), [0, 1, 3]);
        assert_eq!(places(1), [0, 1]);
        assert_eq!(places(9), [0, 1, 2, 3, 4]);
        assert!(places(0).is_empty());
    }

    #[test]
    fn without_evidence_there_are_no_results() {
        let none = Candidate { place: 0, cosine: None, lexical: Some(Lexical::default()) };
        assert!(top_k(vec![none], 5).is_empty());
    }
}
