//! From evidence to hits: calibrated relevance, then every feature, then the order.

use std::time::Instant;

use crate::{
    hit::{Hit, ScoreBreakdown},
    ranking::{
        context::ContextFeatures,
        entities::EntityFeature,
        feature::{Feature, Question},
        fusion::ordered,
        neighbours::NeighbourFeature,
        priors::PriorFeatures,
    },
    settings::RankingConfig,
};
use memgate_core::memory::{Evidence, Memory};
use memgate_models::{Form, Nearness, Relevance, Wording};
use memgate_telemetry::{Metrics, RankStep};
use memgate_text::question::asking::width;

/// A remark of this width says enough to be judged by its words alone; about one sentence.
const SENTENCE: usize = 80;

/// All features, in the order in which they are computed.
const FEATURES: [&dyn Feature; 4] =
    [&ContextFeatures, &NeighbourFeature, &EntityFeature, &PriorFeatures];

/// Ranks all evidence, near-duplicates included, without threshold and limit.
#[must_use]
pub fn rank(
    evidence: Vec<Evidence>,
    question: &Question<'_>,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> Vec<Hit> {
    let started = Instant::now();
    let best = evidence.iter().filter_map(|found| found.cosine).fold(f32::MIN, f32::max);
    let scored = |found| scored(found, question.relevance, best);
    let mut hits: Vec<Hit> = evidence.into_iter().map(scored).collect();
    metrics.ranked(RankStep::Relevance, started.elapsed(), hits.len());
    for feature in FEATURES.iter().filter(|feature| feature.is_on(ranking)) {
        let started = Instant::now();
        let concerned = feature.apply(question, ranking, &mut hits);
        metrics.ranked(feature.step(), started.elapsed(), concerned);
    }
    let started = Instant::now();
    for hit in &mut hits {
        hit.breakdown.boost = hit.breakdown.features.sum();
    }
    let found = hits.len();
    let hits = ordered(hits, ranking.fusion);
    metrics.ranked(RankStep::Order, started.elapsed(), found - hits.len());
    hits
}

/// A hit with its calibrated relevance. `best`: the best cosine of all evidence.
fn scored(evidence: Evidence, relevance: &Relevance, best: f32) -> Hit {
    let nearness = evidence.cosine.map(|cosine| Nearness { cosine, gap: cosine - best });
    let breakdown = ScoreBreakdown {
        cosine: evidence.cosine,
        gap: nearness.map(|nearness| nearness.gap),
        part: evidence.part,
        coverage: evidence.lexical.map(|l| l.coverage),
        bm25: evidence.lexical.map(|l| l.bm25),
        length: length(&evidence.memory),
        window: evidence.lexical.map(|l| l.window),
        ..ScoreBreakdown::default()
    };
    let wording = Wording {
        coverage: breakdown.coverage.unwrap_or(0.0),
        length: breakdown.length,
        form: form(&evidence.memory),
    };
    let score = relevance.score(nearness, wording);
    Hit { memory: evidence.memory, score, breakdown }
}

fn form(memory: &Memory) -> Form {
    match memory.as_turn() {
        None => Form::Made,
        Some(_) if memory.is_idle_turn() => Form::IdleTurn,
        Some(_) => Form::Turn,
    }
}

/// How much a memory says. Text that is not the user's own words was made to be remembered, however
/// short it is.
fn length(memory: &Memory) -> f32 {
    let width = memory.said().map_or(SENTENCE, |words| width(words).min(SENTENCE));
    width as f32 / SENTENCE as f32
}
