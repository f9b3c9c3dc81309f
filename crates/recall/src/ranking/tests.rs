//! Tests of the whole ranking; each technique has its own tests beside it.

use jiff::{Timestamp, tz::TimeZone};

use crate::{
    Asked, Fusion, RankingConfig, Selection, TypeWeights,
    hit::Hit,
    ranking::*,
    select::{deduplicated, select},
};
use memgate_core::memory::{Evidence, Memory, MemoryId, MemoryKind, MemoryType, Owner, Source};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_models::{Models, Relevance, log_odds};
use memgate_telemetry::Metrics;
use memgate_text::index::Lexical;

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

fn relevance() -> Relevance {
    Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap().relevance
}

fn contents(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

fn ranked(evidence: Vec<Evidence>) -> Vec<Hit> {
    ranked_by(evidence, "", &RankingConfig::default())
}

fn ranked_by(evidence: Vec<Evidence>, text: &str, ranking: &RankingConfig) -> Vec<Hit> {
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    let asked = Asked::default();
    let relevance = &relevance();
    let zone = &TimeZone::UTC;
    let question = Question { text, replies: false, asked: &asked, relevance, now, zone };
    rank(evidence, &question, ranking, &Metrics::new())
}

fn gated(hits: Vec<Hit>, selection: &Selection) -> Vec<Hit> {
    select(hits, selection, &RankingConfig::default(), &Metrics::new())
}

#[test]
fn more_evidence_means_more_relevance() {
    let hits = ranked(vec![
        evidence("weak", 0.1, 0.0, 0),
        evidence("both", 0.7, 0.8, 0),
        evidence("dense", 0.7, 0.0, 0),
    ]);
    assert_eq!(contents(&hits), ["both", "dense", "weak"]);
    assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
}

#[test]
fn the_gate_keeps_what_reaches_the_threshold_up_to_the_limit() {
    let strong = (0..4).map(|i| evidence(&format!("s{i}"), 0.6, 0.5, 0));
    let weak = (0..5).map(|i| evidence(&format!("w{i}"), 0.0, 0.0, 0));
    let hits = ranked(strong.chain(weak).collect());
    let terms = |limit, threshold| Selection { limit, threshold, types: Vec::new() };
    assert_eq!(gated(hits.clone(), &terms(50, 0.6)).len(), 4);
    assert_eq!(gated(hits.clone(), &terms(2, 0.6)).len(), 2);
    assert_eq!(gated(hits, &terms(50, 0.0)).len(), 9);
}

#[test]
fn a_summary_is_presented_only_where_nothing_else_is_nearly_as_relevant() {
    let mut summary = evidence("a summary", 0.65, 0.55, 0);
    summary.memory.kind = MemoryKind::Summary;
    let terms = Selection { limit: 5, threshold: 0.6, types: Vec::new() };
    let beside = |other| gated(ranked(vec![summary.clone(), other]), &terms);
    assert_eq!(contents(&beside(evidence("a fact", 0.6, 0.5, 0))), ["a fact"]);
    assert_eq!(contents(&beside(evidence("another matter", 0.0, 0.0, 0))), ["a summary"]);
}

#[test]
fn of_equally_relevant_memories_the_newer_goes_first() {
    let hits = ranked(vec![
        evidence("old value of it", 0.8, 0.5, 1000),
        evidence("new value of that", 0.8, 0.5, 10),
    ]);
    assert_eq!(contents(&hits)[0], "new value of that");
}

#[test]
fn near_duplicates_are_shown_once_also_in_chinese() {
    let ranked = ranked(vec![
        evidence("The budget for Hawaii is $10,000.", 0.8, 0.5, 0),
        evidence("the budget for hawaii is $10,000", 0.7, 0.5, 0),
        evidence("我的预算是一万美元", 0.6, 0.5, 0),
        evidence("我的预算是一万美元。", 0.5, 0.5, 0),
    ]);
    let terms = Selection { limit: 50, threshold: 0.0, types: Vec::new() };
    let shown = gated(ranked.clone(), &terms);
    assert_eq!(shown.len(), 2, "{:?}", contents(&shown));
    assert_eq!(deduplicated(ranked).collect::<Vec<_>>(), shown);
}

fn only(ranking: impl FnOnce(&mut RankingConfig)) -> RankingConfig {
    let mut none = RankingConfig {
        weights: serde_json::from_value(serde_json::json!({
            "window": 0, "session": 0, "speaker": 0, "date": 0, "recency": 0, "importance": 0,
        }))
        .unwrap(),
        types: TypeWeights {
            episodic: 1.0,
            semantic: 1.0,
            procedural: 1.0,
            reflective: 1.0,
            other: 1.0,
        },
        ..RankingConfig::default()
    };
    ranking(&mut none);
    none
}

/// Two memories, the second changed: by which technique does it come first?
fn comes_first(ranking: &RankingConfig, change: impl FnOnce(&mut Memory)) -> bool {
    let mut changed = evidence("the changed one", 0.5, 0.5, 10);
    change(&mut changed.memory);
    let hits = ranked_by(vec![evidence("as it was", 0.5, 0.5, 0), changed], "about Ana", ranking);
    contents(&hits)[0] == "the changed one"
}

#[test]
fn each_weight_orders_by_its_own_sign_and_nothing_does_without_one() {
    let importance = |memory: &mut Memory| memory.importance = 0.9;
    let kind = |memory: &mut Memory| memory.memory_type = MemoryType::new("procedural");
    let nothing = only(|_| {});
    for change in [importance as fn(&mut Memory), kind] {
        assert!(!comes_first(&nothing, change));
    }
    assert!(comes_first(&only(|it| it.weights.importance = 1.0), importance));
    assert!(comes_first(&only(|it| it.types.procedural = 2.0), kind));
}

#[test]
fn what_is_old_goes_behind() {
    let mut old = evidence("I live in Rome", 0.5, 0.5, 0);
    old.memory.updated_at = Timestamp::UNIX_EPOCH;
    old.memory.importance = 0.51;
    let found = || vec![old.clone(), evidence("other", 0.5, 0.5, 10)];
    let first = |ranking: &RankingConfig| contents(&ranked_by(found(), "", ranking))[0].to_owned();
    assert_eq!(first(&only(|it| it.weights.importance = 10.0)), "I live in Rome");
    assert_eq!(first(&only(|it| it.weights.recency = 1.0)), "other");
}

#[test]
fn an_order_changes_no_score_and_what_passes() {
    let all = || vec![evidence("a", 0.6, 0.5, 0), evidence("b", 0.0, 0.0, 0)];
    let scores = |ranking: &RankingConfig| -> Vec<f32> {
        let mut hits = ranked_by(all(), "", ranking);
        hits.sort_by(|a, b| a.memory.content.cmp(&b.memory.content));
        hits.iter().map(|hit| hit.score).collect()
    };
    let rrf = only(|it| it.fusion = Fusion::Rrf);
    assert_eq!(scores(&rrf), scores(&RankingConfig::default()));
    let terms = Selection { limit: 5, threshold: 0.6, types: Vec::new() };
    assert_eq!(contents(&gated(ranked_by(all(), "", &rrf), &terms)), ["a"]);
}

#[test]
fn a_score_and_a_place_are_told_by_their_parts() {
    let mut found = evidence("Ana: I moved to Rome", 0.5, 0.5, 0);
    found.memory.importance = 1.0;
    let ranking = RankingConfig::default();
    let hits = ranked_by(vec![found], "Where did Ana move?", &ranking);
    let breakdown = hits[0].breakdown;
    assert_eq!(breakdown.features.speaker, ranking.weights.speaker);
    assert_eq!(breakdown.features.importance, ranking.weights.importance);
    assert!((breakdown.boost - breakdown.features.sum()).abs() < 1e-6);
    let order = log_odds(hits[0].score) + breakdown.boost;
    assert!((breakdown.order - order).abs() < 1e-6);
}
