//! BM25 over one owner's memories, with that owner's own statistics.

use super::terms::{QueryTerms, TermId, Terms};
use crate::memory::Lexical;

/// How soon more of the same word stops adding; the usual value.
const K1: f32 = 1.2;

/// How much long texts are held back; the usual value.
const B: f32 = 0.75;

/// What a function word counts, against 1 for any other.
const LIGHT: f32 = 0.1;

/// The least rareness of a word that every document has.
const MIN_IDF: f32 = 0.05;

/// Documents without any of the query's words that coverage imagines besides
/// the owner's. An owner's first memories say nothing about which words are
/// rare; without this, each word they hold would pass for common.
const IMAGINED: f32 = 100.0;

/// One word of one document.
#[derive(Clone, Copy, Debug)]
struct Posting {
    term: TermId,
    document: u32,
    count: u16,
}

/// The words of a collection of documents, numbered from 0 in the order given.
#[derive(Clone, Debug, Default)]
pub struct Postings {
    /// By term, then document.
    entries: Vec<Posting>,
    lengths: Vec<u32>,
}

impl Postings {
    /// Of these documents.
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

    /// Memory used, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Posting>() + self.lengths.capacity() * size_of::<u32>()
    }

    /// Scores every document; those that are not `alive` score nothing and
    /// count for nothing.
    #[must_use]
    pub fn score(&self, query: &QueryTerms, alive: impl Fn(u32) -> bool) -> Vec<Lexical> {
        let mut scores = vec![Lexical::default(); self.lengths.len()];
        let lengths = (0..).zip(&self.lengths).filter(|(document, _)| alive(*document));
        let (count, total) = lengths.fold((0_u32, 0.0_f32), |(count, total), (_, length)| {
            (count + 1, total + float(*length))
        });
        let (count, mean) = (float(count), (total / float(count.max(1))).max(1.0));
        let mut mass = 0.0;
        for &(term, light) in &query.terms {
            let found = self.of_term(term).iter().filter(|posting| alive(posting.document));
            let documents = found.clone().fold(0.0, |n, _| n + 1.0);
            let weight = if light { LIGHT } else { 1.0 };
            let rare = weight * idf(count, documents);
            let share = weight * idf(count + IMAGINED, documents);
            mass += share;
            for posting in found {
                let Some(score) = scores.get_mut(posting.document as usize) else { continue };
                let length = float(self.lengths[posting.document as usize]);
                let times = f32::from(posting.count);
                let damped = times + K1 * (1.0 - B + B * length / mean);
                score.bm25 += rare * times * (K1 + 1.0) / damped;
                score.coverage += share;
            }
        }
        for score in &mut scores {
            score.coverage = (score.coverage / mass).min(1.0);
        }
        scores
    }

    fn of_term(&self, term: TermId) -> &[Posting] {
        let start = self.entries.partition_point(|posting| posting.term < term);
        let rest = &self.entries[start..];
        &rest[..rest.partition_point(|posting| posting.term == term)]
    }
}

/// How rare a word is that `found` of `count` documents hold.
fn idf(count: f32, found: f32) -> f32 {
    (1.0 + (count - found + 0.5) / (found + 0.5)).ln().max(MIN_IDF)
}

#[expect(clippy::cast_precision_loss, reason = "counts of an owner's memories are far below 2^24")]
fn float(count: u32) -> f32 {
    count as f32
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn score(documents: &[&str], query: &str) -> Vec<Lexical> {
        let terms: Vec<Terms> = documents.iter().map(|text| Terms::of(text)).collect();
        Postings::of(&terms).score(&QueryTerms::of(query).unwrap(), |_| true)
    }

    #[test]
    fn a_known_example_has_the_known_score() {
        // One term, in one of two documents of mean length 2.
        let scores = score(&["cat", "dog bird fish"], "cat");
        let expected = 2.0_f32.ln() * 2.2 / (1.0 + 1.2 * (0.25 + 0.75 / 2.0));
        assert!((scores[0].bm25 - expected).abs() < 1e-6, "{scores:?}");
        assert_eq!(scores[1], Lexical::default());
    }

    #[test]
    fn a_lone_memory_is_covered_by_a_question_about_it() {
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
    fn what_is_not_alive_does_not_even_count() {
        let all: Vec<Terms> = ["cat one", "cat two", "dog"].map(Terms::of).into();
        let query = QueryTerms::of("cat dog").unwrap();
        let some = Postings::of(&all).score(&query, |document| document != 1);
        let without = Postings::of([&all[0], &all[2]]).score(&query, |_| true);
        assert_eq!((some[0], some[1], some[2]), (without[0], Lexical::default(), without[1]));
    }

    #[test]
    fn an_empty_collection_scores_nothing() {
        assert_eq!(score(&[], "cat"), []);
    }
}
