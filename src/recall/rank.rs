//! From evidence to hits: calibrated, with all that orders them, best first.

use std::time::Instant;

use jiff::Timestamp;

use super::{
    fusion, names, neighbours, own,
    parts::Parts,
    query::{Asked, width},
    standing,
    statements::with_their_turns,
};
use crate::{
    config::{Fusion, RankingConfig},
    memory::{Evidence, Memory},
    models::{Nearness, Relevance},
    telemetry::{Metrics, RankStep},
};

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

impl Hit {
    fn of(evidence: Evidence, everyday: f32, relevance: &Relevance) -> Self {
        let nearness = evidence.cosine.map(|cosine| Nearness { cosine, background: everyday });
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
        let score = relevance.score(nearness, coverage, parts.length);
        Self { memory: evidence.memory, score, parts }
    }
}

/// How much a memory says. What are not the user's own words was made to be remembered, however
/// short it is.
fn length(memory: &Memory) -> f32 {
    let width = memory.said().map_or(SENTENCE, |words| width(words).min(SENTENCE));
    width as f32 / SENTENCE as f32
}

/// What evidence is ranked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Its words.
    pub text: &'a str,
    /// What it tells beside its words.
    pub asked: &'a Asked,
    /// The cosine of the query and texts that have nothing to do with it.
    pub everyday: f32,
    /// What evidence is worth.
    pub relevance: &'a Relevance,
    /// The time of asking.
    pub now: Timestamp,
}

/// Ranks all evidence, near-duplicates included, without threshold and limit: by relevance and by where a memory
/// stands.
#[must_use]
pub fn rank(
    evidence: Vec<Evidence>,
    question: &Question<'_>,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> Vec<Hit> {
    let weights = &ranking.weights;
    let timed = |step, hits: &mut Vec<Hit>, work: &dyn Fn(&mut Vec<Hit>) -> usize| {
        let started = Instant::now();
        let concerned = work(hits);
        metrics.ranked(step, started.elapsed(), concerned);
    };
    let started = Instant::now();
    let of = |found| Hit::of(found, question.everyday, question.relevance);
    let mut hits: Vec<Hit> = evidence.into_iter().map(of).collect();
    metrics.ranked(RankStep::Relevance, started.elapsed(), hits.len());
    timed(RankStep::Standing, &mut hits, &|hits| standing::place(hits, question, weights));
    if weights.neighbours > 0.0 {
        timed(RankStep::Neighbours, &mut hits, &|hits| neighbours::place(hits, weights.neighbours));
    }
    if weights.entity > 0.0 {
        timed(RankStep::Entities, &mut hits, &|hits| {
            names::place(hits, question.text, weights.entity)
        });
    }
    timed(RankStep::Own, &mut hits, &|hits| own::place(hits, ranking, question.now));
    timed(RankStep::Order, &mut hits, &|hits| {
        for hit in hits.iter_mut() {
            hit.parts.standing = hit.parts.added.sum();
        }
        let found = hits.len();
        *hits = ordered(std::mem::take(hits), ranking.fusion);
        found - hits.len()
    });
    hits
}

/// Best first, turns and what was taken from them joined.
pub(super) fn ordered(mut hits: Vec<Hit>, fusion: Fusion) -> Vec<Hit> {
    fusion::order(&mut hits, fusion);
    with_their_turns(hits)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;
