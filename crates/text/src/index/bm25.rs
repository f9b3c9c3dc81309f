//! BM25 over one owner's memories, with that owner's own statistics.

use std::{collections::HashMap, hash::Hash};

use crate::index::terms::{QueryTerms, TermId, Terms};

/// How well the words match.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lexical {
    /// BM25 over the owner's own memories (k1 1.2, b 0.75), unbounded.
    pub bm25: f32,
    /// Which part of the query's weight in rare words was found, 0 to 1.
    pub coverage: f32,
    /// BM25 of the memory together with the one of its type that was said just before it in its
    /// session, as a share of the most that there can be: 0 to 1. The best by it are returned.
    pub window: f32,
}

/// Term frequency saturation; the usual value.
const K1: f32 = 1.2;

/// Length normalisation; the usual value.
const B: f32 = 0.75;

/// Weight of a function word, relative to 1 for other words.
const LIGHT: f32 = 0.1;

/// Minimum idf of a word that every document contains.
const MIN_IDF: f32 = 0.05;

/// Number of pseudo-documents without query words that coverage adds to the owner's. Few memories
/// say nothing about which words are rare; without this, each word in them would count as common.
const IMAGINED: f32 = 100.0;

/// No document.
const NONE: u32 = u32::MAX;

/// One word of one document.
#[derive(Clone, Copy, Debug)]
struct Posting {
    term: TermId,
    document: u32,
    count: u16,
}

/// The words of a collection of documents, numbered from 0 in the given order.
#[derive(Clone, Debug, Default)]
pub struct Postings {
    /// Sorted by term, then document.
    entries: Vec<Posting>,
    lengths: Vec<u32>,
    /// For each document the one before and the one after it in its session; [`NONE`] if there is
    /// none.
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Postings {
    /// Indexes these documents.
    #[must_use]
    pub fn of<'a>(documents: impl IntoIterator<Item = &'a Terms>) -> Self {
        let mut postings = Self::default();
        for (document, terms) in (0..).zip(documents) {
            postings.lengths.push(terms.length);
            postings.entries.extend(terms.counts.iter().map(|&(term, count)| Posting {
                term,
                document,
                count,
            }));
        }
        postings.entries.sort_unstable_by_key(|posting| (posting.term, posting.document));
        postings.entries.shrink_to_fit();
        postings
    }

    /// Groups documents into sessions by key; documents are ordered newest first. Documents without
    /// a key have no neighbours.
    #[must_use]
    pub fn said_in<K: Eq + Hash>(mut self, sessions: impl IntoIterator<Item = Option<K>>) -> Self {
        self.before = vec![NONE; self.lengths.len()];
        self.after = self.before.clone();
        let mut last: HashMap<K, u32> = HashMap::new();
        for (document, session) in (0..).zip(sessions).take(self.lengths.len()) {
            let Some(newer) = session.and_then(|session| last.insert(session, document)) else {
                continue;
            };
            self.before[newer as usize] = document;
            self.after[document as usize] = newer;
        }
        self
    }

    /// Memory used, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Posting>()
            + (self.lengths.capacity() + self.before.capacity() + self.after.capacity())
                * size_of::<u32>()
    }

    /// Scores every document. Those that are not `alive` score 0 and are ignored in the statistics.
    #[must_use]
    pub fn score(&self, query: &QueryTerms, alive: impl Fn(u32) -> bool) -> Vec<Lexical> {
        let mut scores = vec![Lexical::default(); self.lengths.len()];
        // Skips documents that are not alive.
        let beside = |side: &[u32], document: u32| {
            let next = |from: &u32| side.get(*from as usize).copied().filter(|to| *to != NONE);
            std::iter::successors(next(&document), next).find(|other| alive(*other))
        };
        // Lengths of a document and of its window, which includes the one before it.
        let length = |document: u32| float(self.lengths[document as usize]);
        let window =
            |document| length(document) + beside(&self.before, document).map_or(0.0, length);
        let living = (0..).take(self.lengths.len()).filter(|document| alive(*document));
        let (count, total, windows) =
            living.fold((0_u32, 0.0, 0.0), |(count, total, windows), document| {
                (count + 1, total + length(document), windows + window(document))
            });
        let mean = |total: f32| (total / float(count.max(1))).max(1.0);
        let (mean, mean_window, count) = (mean(total), mean(windows), float(count));
        let (mut mass, mut rare_mass) = (0.0, 0.0);
        // Frequency of the current word in each window; all 0 between two words.
        let mut within = vec![0.0; scores.len()];
        for &(term, light) in &query.terms {
            let found = self.of_term(term).iter().filter(|posting| alive(posting.document));
            let documents = found.clone().fold(0.0, |n, _| n + 1.0);
            let weight = if light { LIGHT } else { 1.0 };
            let rare = weight * idf(count, documents);
            let share = weight * idf(count + IMAGINED, documents);
            mass += share;
            rare_mass += rare;
            let mut windows = Vec::new();
            for posting in found {
                let Some(score) = scores.get_mut(posting.document as usize) else { continue };
                let times = f32::from(posting.count);
                score.bm25 += rare * (K1 + 1.0) * saturated(times, length(posting.document) / mean);
                score.coverage += share;
                let after = beside(&self.after, posting.document);
                for document in std::iter::once(posting.document).chain(after) {
                    within[document as usize] += times;
                    windows.push(document);
                }
            }
            for document in windows {
                let times = std::mem::take(&mut within[document as usize]);
                let length = window(document) / mean_window;
                scores[document as usize].window += rare * saturated(times, length);
            }
        }
        for score in &mut scores {
            score.coverage = (score.coverage / mass).min(1.0);
            score.window = (score.window / rare_mass).min(1.0);
        }
        scores
    }

    fn of_term(&self, term: TermId) -> &[Posting] {
        let start = self.entries.partition_point(|posting| posting.term < term);
        let rest = &self.entries[start..];
        &rest[..rest.partition_point(|posting| posting.term == term)]
    }
}

/// Saturated term frequency, below 1; lower in a text longer than the mean.
fn saturated(times: f32, length: f32) -> f32 {
    if times == 0.0 { 0.0 } else { times / (times + K1 * (1.0 - B + B * length)) }
}

/// Inverse document frequency of a word in `found` of `count` documents.
fn idf(count: f32, found: f32) -> f32 {
    (1.0 + (count - found + 0.5) / (found + 0.5)).ln().max(MIN_IDF)
}

#[expect(clippy::cast_precision_loss, reason = "counts of an owner's memories are far below 2^24")]
fn float(count: u32) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(documents: &[&str], query: &str) -> Vec<Lexical> {
        let terms: Vec<Terms> = documents.iter().map(|text| Terms::of(text)).collect();
        Postings::of(&terms).score(&QueryTerms::of(query).unwrap(), |_| true)
    }

    #[test]
    fn a_known_example_has_its_known_score() {
        // One term, in one of two documents of mean length 2.
        let scores = score(&["cat", "dog bird fish"], "cat");
        let expected = 2.0_f32.ln() * 2.2 / (1.0 + 1.2 * (0.25 + 0.75 / 2.0));
        assert!((scores[0].bm25 - expected).abs() < 1e-6, "{scores:?}");
        assert_eq!(scores[1], Lexical::default());
    }

    #[test]
    fn a_single_memory_is_covered_by_a_query_about_it() {
        let fact = ["My budget for the Hawaii trip is $10,000"];
        let coverage = |query: &str| score(&fact, query)[0].coverage;
        assert!(coverage("What's my budget for the trip?") > 0.9);
        assert!(coverage("Can you tell me my budget please") > 0.6);
        assert!((0.2..0.5).contains(&coverage("budget for a new car")));
        assert!(coverage("what is the time for it") < 0.7);
        assert!(coverage("capital of France") < 0.15);
    }

    #[test]
    fn a_rare_word_outweighs_many_function_words() {
        let scores = score(
            &["what is it that I have to do with the", "Schnurri sleeps", "we went out to eat"],
            "what is the name of my Schnurri",
        );
        assert!(
            scores[1].bm25 > scores[0].bm25 && scores[1].coverage > scores[0].coverage,
            "{scores:?}"
        );
    }

    #[test]
    fn documents_that_are_not_alive_are_ignored() {
        let all: Vec<Terms> = ["cat one", "cat two", "dog"].map(Terms::of).into();
        let query = QueryTerms::of("cat dog").unwrap();
        let some = Postings::of(&all).score(&query, |document| document != 1);
        let without = Postings::of([&all[0], &all[2]]).score(&query, |_| true);
        assert_eq!((some[0], some[1], some[2]), (without[0], Lexical::default(), without[1]));
    }

    #[test]
    fn a_window_includes_only_the_document_before() {
        let said = ["Rome, in May", "Where do you want to go?", "I want a cat", "Where to?"];
        let terms: Vec<Terms> = said.map(Terms::of).into();
        let query = QueryTerms::of("Where to go in Rome?").unwrap();
        let sessions = [Some("s"), Some("s"), None, Some("t")];
        let alone = Postings::of(&terms).score(&query, |_| true);
        let together = Postings::of(&terms).said_in(sessions);
        let scores = together.score(&query, |_| true);
        assert!(scores[0].window > alone[0].window, "{scores:?}");
        assert_eq!(scores[0].bm25, alone[0].bm25);
        assert!(scores[0].window > scores[1].window && scores[1].window > scores[2].window);
        // Documents that are not alive do not separate others.
        let sessions = [Some("s"), Some("s"), None, Some("s")];
        let without = Postings::of(&terms).said_in(sessions).score(&query, |it| it != 1);
        let left: Vec<Terms> = [said[0], said[2], said[3]].map(Terms::of).into();
        let left = Postings::of(&left).said_in([Some("s"), None, Some("s")]);
        let left = left.score(&query, |_| true);
        assert_eq!((without[0], without[2], without[3]), (left[0], left[1], left[2]));
    }

    #[test]
    fn an_empty_collection_scores_nothing() {
        assert_eq!(score(&[], "cat"), []);
    }
}
