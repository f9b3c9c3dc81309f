//! From evidence to hits: calibrated relevance, then every feature, then the order.

use std::time::Instant;

use crate::{
    hit::{Hit, HitScope, ScoreBreakdown},
    ranking::{
        context::ContextFeatures,
        feature::{Feature, Question, RankStep},
        fusion::ordered,
        priors::PriorFeatures,
    },
    settings::RankingConfig,
    text::view,
};
use memgate_core::memory::{Evidence, Memory};
use memgate_models::{Form, Nearness, Wording};
use memgate_telemetry::Metrics;
use memgate_text::question::asking::width;

/// A remark of this width says enough to be judged by its words alone; about one sentence.
const SENTENCE: usize = 80;

/// All features, in the order in which they are computed.
const FEATURES: [&dyn Feature; 2] = [&ContextFeatures, &PriorFeatures];

/// Ranks all evidence, near-duplicates included, without threshold and limit.
#[must_use]
pub fn rank(
    evidence: Vec<Evidence>,
    question: &Question<'_>,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> Vec<Hit> {
    let best = best_cosine(&evidence);
    rank_apart(evidence, best, question, ranking, metrics).0
}

/// The best cosine of this evidence.
pub(crate) fn best_cosine(evidence: &[Evidence]) -> f32 {
    evidence.iter().filter_map(|found| found.cosine).fold(f32::MIN, f32::max)
}

/// As [`rank`], compared with this best cosine; returns also the hits that others stand for.
pub(crate) fn rank_apart(
    evidence: Vec<Evidence>,
    best: f32,
    question: &Question<'_>,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> (Vec<Hit>, Vec<Hit>) {
    let started = Instant::now();
    let scored = |found| scored(found, question, best);
    let mut hits: Vec<Hit> = evidence.into_iter().map(scored).collect();
    metrics.ranked(RankStep::Relevance.into(), started.elapsed(), hits.len());
    for feature in FEATURES {
        let started = Instant::now();
        let concerned = feature.apply(question, ranking, &mut hits);
        metrics.ranked(feature.step().into(), started.elapsed(), concerned);
    }
    let started = Instant::now();
    for hit in &mut hits {
        hit.breakdown.boost = hit.breakdown.features.sum();
    }
    let (hits, collapsed) = ordered(hits, ranking.fusion);
    metrics.ranked(RankStep::Order.into(), started.elapsed(), collapsed.len());
    (hits, collapsed)
}

/// A hit with its calibrated relevance. `best`: the best cosine of all evidence.
fn scored(evidence: Evidence, question: &Question<'_>, best: f32) -> Hit {
    let replies = question.replies;
    let nearness = evidence.cosine.map(|cosine| Nearness { cosine, gap: cosine - best });
    let breakdown = ScoreBreakdown {
        cosine: evidence.cosine,
        gap: nearness.map(|nearness| nearness.gap),
        part: evidence.part,
        coverage: evidence.lexical.map(|l| l.coverage),
        bm25: evidence.lexical.map(|l| l.bm25),
        length: length(&evidence.memory),
        window: evidence.lexical.map(|l| l.window),
        replies,
        ..ScoreBreakdown::default()
    };
    let form = form(&evidence.memory, replies);
    let wording =
        Wording { coverage: breakdown.coverage.unwrap_or(0.0), length: breakdown.length, form };
    let score = question.relevance.score(nearness, wording);
    Hit { memory: evidence.memory, scope: HitScope::default(), score, breakdown }
}

/// `replies`: the assistant's words are asked for. A turn is idle by what the user said in it.
fn form(memory: &Memory, replies: bool) -> Form {
    match memory.as_turn() {
        None => Form::Made,
        Some(_) if memory.is_idle_turn() && !replies => Form::IdleTurn,
        Some(_) => Form::Turn,
    }
}

/// How much a memory says. Text that is not the user's own words was made to be remembered, however
/// short it is.
fn length(memory: &Memory) -> f32 {
    let width = memory.said().map_or(SENTENCE, |words| width(view::head(words)).min(SENTENCE));
    width as f32 / SENTENCE as f32
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use memgate_core::memory::{MemoryId, MemoryType, Owner, Source};

    #[test]
    fn a_turn_that_tells_nothing_is_no_less_where_the_reply_is_asked_for() {
        let said = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::EPISODIC),
            "Suggest a name for my cat",
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        assert_eq!(form(&said, false), Form::Made);
        let mut turn = said.clone().of_turn(said.content, Some("How about Biscuit?".into()));
        assert_eq!(form(&turn, false), Form::Turn);
        turn.importance = Memory::IDLE_IMPORTANCE;
        assert_eq!(form(&turn, false), Form::IdleTurn);
        assert_eq!(form(&turn, true), Form::Turn);
    }
}
