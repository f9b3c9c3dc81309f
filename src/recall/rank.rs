//! From evidence to hits: calibrated, above the threshold, best first, without
//! near-duplicates.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{
    calibration::{self, Nearness},
    query::{Asked, width},
    standing,
    statements::with_their_turns,
    summaries::without_summaries,
};
use crate::{
    memory::{Evidence, Memory},
    store::lexical,
};

/// Two memories that share this part of their words say the same.
const NEAR_DUPLICATE: f32 = 0.9;
/// What is compared of a memory, in bytes: more than is shown of one.
const COMPARED: usize = 4_096;
/// Hits that differ by less, in log-odds, are equally relevant; the newer goes first.
const TIE: f32 = 0.1;

/// A remark of this width says enough to be judged by its words alone; about one sentence.
const SENTENCE: usize = 80;

/// What the configuration, a policy or the request wants of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// At most this many hits.
    pub limit: usize,
    /// Of at least this relevance.
    pub threshold: f32,
    /// Of these types; empty means all.
    pub types: Vec<String>,
}

/// A memory with its score and the parts of that score.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// Calibrated relevance, 0 to 1; means the same in every store.
    pub score: f32,
    /// Why.
    pub parts: Parts,
}

/// The parts of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Cosine of the query and the best part of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
    /// Cosine of the query and texts that have nothing to do with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub everyday: Option<f32>,
    /// Which part of the memory that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u16>,
    /// Part of the query's weight in rare words that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f32>,
    /// BM25 over the owner's memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25: Option<f32>,
    /// How long the user's words of a turn are, up to 1 for a sentence; 1 for other memories.
    pub length: f32,
    /// BM25 of the memory and the one said just before it, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<f32>,
    /// What its session adds to its standing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<f32>,
    /// Whether somebody said it whom the query names.
    #[serde(default)]
    pub speaker: bool,
    /// Whether it was said at a time that the query names.
    #[serde(default)]
    pub dated: bool,
    /// Whether it is of the type that the query asks for.
    #[serde(default)]
    pub typed: bool,
    /// Whether it was found for a part of the question, better than for the whole.
    #[serde(default)]
    pub of_part: bool,
    /// What is added to the relevance, in log-odds, to order hits; not to decide whether one passes.
    #[serde(default)]
    pub standing: f32,
}

impl Hit {
    fn of(evidence: Evidence, everyday: f32) -> Self {
        let nearness = evidence.cosine.map(|cosine| Nearness { cosine, everyday });
        let parts = Parts {
            cosine: evidence.cosine,
            everyday: evidence.cosine.map(|_| everyday),
            part: evidence.part,
            coverage: evidence.lexical.map(|l| l.coverage),
            bm25: evidence.lexical.map(|l| l.bm25),
            length: length(&evidence.memory),
            window: evidence.lexical.map(|l| l.window),
            ..Parts::default()
        };
        let coverage = parts.coverage.unwrap_or(0.0);
        let score = calibration::relevance(nearness, coverage, parts.length);
        Self { memory: evidence.memory, score, parts }
    }
}

/// How much a memory says. What are not the user's own words was made to be remembered, however
/// short it is.
fn length(memory: &Memory) -> f32 {
    let width = memory.said().map_or(SENTENCE, |words| width(words).min(SENTENCE));
    width as f32 / SENTENCE as f32
}

/// Ranks all evidence, near-duplicates included, without threshold and limit: by relevance and by where a memory
/// stands. `everyday` is the cosine of the query and texts that have nothing to do with it.
#[must_use]
pub fn rank(evidence: Vec<Evidence>, query: &str, asked: &Asked, everyday: f32) -> Vec<Hit> {
    let mut hits: Vec<Hit> = evidence.into_iter().map(|found| Hit::of(found, everyday)).collect();
    standing::place(&mut hits, query, asked);
    ordered(hits)
}

/// Best first: by relevance and by where a memory stands.
pub(super) fn ordered(mut hits: Vec<Hit>) -> Vec<Hit> {
    // A step of TIE is one rank, so that this is an order and not a matter of who is compared with whom.
    let step =
        |hit: &Hit| ((calibration::log_odds(hit.score) + hit.parts.standing) / TIE).floor() as i32;
    hits.sort_by(|a, b| {
        step(b)
            .cmp(&step(a))
            .then_with(|| b.memory.updated_at.cmp(&a.memory.updated_at))
            .then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    with_their_turns(hits)
}

/// The gate: what is presented of ranked hits. Summaries only where nothing else is.
#[must_use]
pub fn gate(hits: Vec<Hit>, terms: &Terms) -> Vec<Hit> {
    let (others, summaries) = without_summaries(hits);
    let presented = passing(others, terms);
    if presented.is_empty() { passing(summaries, terms) } else { presented }
}

fn passing(hits: Vec<Hit>, terms: &Terms) -> Vec<Hit> {
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let passing =
        hits.into_iter().filter(|hit| calibration::passes(hit.score, best, terms.threshold));
    distinct(passing).take(terms.limit).collect()
}

/// The hits without those that say what a better one says. Each is compared only when it is asked for: of all that
/// was found, few are presented.
pub fn distinct(hits: impl IntoIterator<Item = Hit>) -> impl Iterator<Item = Hit> {
    let mut kept: Vec<HashSet<String>> = Vec::new();
    hits.into_iter().filter(move |hit| {
        let content = &hit.memory.content;
        let tokens = lexical::token_set(&content[..content.floor_char_boundary(COMPARED)]);
        let is_new = !kept.iter().any(|other| overlap(other, &tokens) >= NEAR_DUPLICATE);
        if is_new {
            kept.push(tokens);
        }
        is_new
    })
}

/// Jaccard: shared tokens of all tokens.
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 1.0 } else { shared as f32 / all as f32 }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::memory::{Lexical, MemoryId, MemoryType, Owner, Relation, Source};

    fn evidence(content: &str, cosine: f32, coverage: f32, age: i64) -> Evidence {
        let at = Timestamp::from_second(1_700_000_000 - age).unwrap();
        Evidence {
            memory: Memory::new(
                MemoryId::fresh(),
                Owner::of_user("u").unwrap(),
                MemoryType::new(MemoryType::SEMANTIC),
                content,
                Source::ExplicitUserInput,
                at,
            ),
            cosine: Some(cosine),
            part: Some(0),
            lexical: Some(Lexical { bm25: coverage * 4.0, coverage, window: 0.0 }),
        }
    }

    fn contents(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.memory.content.as_str()).collect()
    }

    #[test]
    fn more_evidence_means_more_relevance() {
        let hits = rank(
            vec![
                evidence("weak", 0.1, 0.0, 0),
                evidence("both", 0.7, 0.8, 0),
                evidence("dense", 0.7, 0.0, 0),
            ],
            "",
            &Asked::default(),
            0.15,
        );
        assert_eq!(contents(&hits), ["both", "dense", "weak"]);
        assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    }

    #[test]
    fn the_gate_keeps_what_reaches_the_threshold_up_to_the_limit() {
        let strong = (0..4).map(|i| evidence(&format!("s{i}"), 0.6, 0.5, 0));
        let weak = (0..5).map(|i| evidence(&format!("w{i}"), 0.0, 0.0, 0));
        let hits = rank(strong.chain(weak).collect(), "", &Asked::default(), 0.15);
        let terms = |limit, threshold| Terms { limit, threshold, types: Vec::new() };
        assert_eq!(gate(hits.clone(), &terms(50, 0.6)).len(), 4);
        assert_eq!(gate(hits.clone(), &terms(2, 0.6)).len(), 2);
        assert_eq!(gate(hits, &terms(50, 0.0)).len(), 9);
    }

    #[test]
    fn a_summary_is_presented_only_where_nothing_else_is() {
        let mut summary = evidence("a summary", 0.9, 0.9, 0);
        let kind = Relation::SUMMARY_OF.to_owned();
        summary.memory.relations.push(Relation { kind, target: MemoryId::fresh() });
        let terms = Terms { limit: 5, threshold: 0.6, types: Vec::new() };
        let beside =
            |other| gate(rank(vec![summary.clone(), other], "", &Asked::default(), 0.15), &terms);
        assert_eq!(contents(&beside(evidence("a fact", 0.6, 0.5, 0))), ["a fact"]);
        assert_eq!(contents(&beside(evidence("another matter", 0.0, 0.0, 0))), ["a summary"]);
    }

    #[test]
    fn of_equally_relevant_memories_the_newer_goes_first() {
        let hits = rank(
            vec![
                evidence("old value of it", 0.8, 0.5, 1000),
                evidence("new value of that", 0.8, 0.5, 10),
            ],
            "",
            &Asked::default(),
            0.15,
        );
        assert_eq!(contents(&hits)[0], "new value of that");
    }

    #[test]
    fn near_duplicates_are_shown_once_also_in_chinese() {
        let ranked = rank(
            vec![
                evidence("The budget for Hawaii is $10,000.", 0.8, 0.5, 0),
                evidence("the budget for hawaii is $10,000", 0.7, 0.5, 0),
                evidence("我的预算是一万美元", 0.6, 0.5, 0),
                evidence("我的预算是一万美元。", 0.5, 0.5, 0),
            ],
            "",
            &Asked::default(),
            0.15,
        );
        let terms = Terms { limit: 50, threshold: 0.0, types: Vec::new() };
        let shown = gate(ranked.clone(), &terms);
        assert_eq!(shown.len(), 2, "{:?}", contents(&shown));
        assert_eq!(distinct(ranked).collect::<Vec<_>>(), shown);
    }
}
