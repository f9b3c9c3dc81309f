//! Which of the ranked hits are presented. Relevance decides which pass, the order which come first.

use std::collections::HashMap;
use std::time::Instant;

use crate::{
    hit::Hit,
    request::Selection,
    select::{collapse::without_summaries, dedup::Presented},
    settings::RankingConfig,
};
use memgate_models::log_odds;
use memgate_telemetry::{Metrics, RankRule, RankStep};

/// How much more relevant than every other hit a summary must be to be presented beside them, in log-odds: where turns
/// only touch on what is asked, it alone may answer. On the stories in testdata it changes nothing.
const CLEARLY: f32 = 1.0;

/// The ranked hits that are presented. Summaries only where nothing else is, and one that is clearly better than all else.
#[must_use]
pub fn select(
    hits: Vec<Hit>,
    selection: &Selection,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> Vec<Hit> {
    let started = Instant::now();
    let mut left_out = LeftOut::default();
    let (others, summaries) = without_summaries(hits);
    let mut presented = passing(others, selection, ranking, &mut left_out);
    let best = presented.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let mut summaries = passing(summaries, selection, ranking, &mut LeftOut::default());
    if presented.is_empty() {
        presented = summaries;
    } else {
        let far = log_odds(best) + CLEARLY;
        summaries.retain(|summary| log_odds(summary.score) >= far);
        presented.splice(0..0, summaries.into_iter().take(1));
        presented.truncate(selection.limit);
    }
    metrics.ranked(RankStep::Gate, started.elapsed(), presented.len());
    left_out.count(ranking, metrics);
    presented
}

/// How many hits each rule left out.
#[derive(Default)]
struct LeftOut {
    distinct: usize,
    session: usize,
}

impl LeftOut {
    fn count(&self, ranking: &RankingConfig, metrics: &Metrics) {
        let rules = [
            (RankRule::Distinct, ranking.deduplicate, self.distinct),
            (RankRule::SessionCap, ranking.max_per_session > 0, self.session),
        ];
        for (rule, on, hits) in rules {
            if on {
                metrics.left_out(rule, hits);
            }
        }
    }
}

/// Each hit is compared only until there are enough: of all that was found, few are presented.
fn passing(
    hits: Vec<Hit>,
    selection: &Selection,
    ranking: &RankingConfig,
    left_out: &mut LeftOut,
) -> Vec<Hit> {
    let mut shown: Vec<Hit> = Vec::new();
    let mut before = Presented::default();
    let mut sessions: HashMap<String, usize> = HashMap::new();
    for hit in hits {
        if shown.len() == selection.limit {
            break;
        }
        if hit.score < selection.threshold {
            continue;
        }
        if ranking.max_per_session > 0
            && let Some(session) = &hit.memory.session_id
            && sessions.get(session).is_some_and(|shown| *shown >= ranking.max_per_session)
        {
            left_out.session += 1;
            continue;
        }
        if ranking.deduplicate && !before.is_new(&hit) {
            left_out.distinct += 1;
            continue;
        }
        if let Some(session) = &hit.memory.session_id {
            *sessions.entry(session.clone()).or_default() += 1;
        }
        shown.push(hit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Relation, Source};

    fn hit(content: &str, session: &str, score: f32) -> Hit {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        memory.session_id = Some(session.to_owned());
        Hit { memory, score, breakdown: ScoreBreakdown::default() }
    }

    /// What is presented of these by a ranking, and what the metrics tell.
    fn presented(hits: Vec<Hit>, ranking: &RankingConfig) -> (Vec<String>, String) {
        let selection = Selection { limit: 5, threshold: 0.6, types: Vec::new() };
        let metrics = Metrics::new();
        let shown = select(hits, &selection, ranking, &metrics);
        (shown.into_iter().map(|hit| hit.memory.content).collect(), metrics.encode())
    }

    fn all() -> Vec<Hit> {
        vec![
            hit("a cat", "s", 0.97),
            hit("a cat!", "t", 0.96),
            hit("a dog", "s", 0.95),
            hit("far behind", "u", 0.61),
            hit("below the threshold", "u", 0.59),
        ]
    }

    #[test]
    fn each_rule_leaves_out_what_it_is_for_and_is_counted() {
        let none = RankingConfig { deduplicate: false, ..RankingConfig::default() };
        let (shown, told) = presented(all(), &none);
        assert_eq!(shown, ["a cat", "a cat!", "a dog", "far behind"]);
        assert!(!told.contains("memgate_ranking_left_out_total{"), "{told}");
        let on = |name: &str| {
            let mut ranking = none.clone();
            match name {
                "distinct" => ranking.deduplicate = true,
                _ => ranking.max_per_session = 1,
            }
            ranking
        };
        let rules = [("distinct", "a cat!"), ("session_cap", "a dog")];
        for (name, left_out) in rules {
            let (shown, told) = presented(all(), &on(name));
            assert_eq!((shown.len(), shown.iter().any(|it| it == left_out)), (3, false), "{name}");
            let counted = format!("memgate_ranking_left_out_total{{rule=\"{name}\"}} 1");
            assert!(told.contains(&counted), "{told}");
        }
    }

    #[test]
    fn a_summary_is_presented_alone_or_where_it_is_clearly_more_relevant_than_the_rest() {
        let summary = |score| {
            let mut summary = hit("the party will be in Porto, by the river", "s", score);
            let (kind, target) = (Relation::SUMMARY_OF.to_owned(), MemoryId::fresh());
            summary.memory.relations = vec![Relation { kind, target }];
            summary
        };
        let ranking = RankingConfig::default();
        let shown =
            |score| presented(vec![hit("by the river", "t", 0.65), summary(score)], &ranking).0;
        assert_eq!(shown(0.7), ["by the river"]);
        assert_eq!(shown(0.95), ["the party will be in Porto, by the river", "by the river"]);
        assert_eq!(presented(vec![summary(0.7)], &ranking).0.len(), 1);
    }

    #[test]
    fn what_is_left_out_for_one_reason_does_not_stand_for_its_session_or_its_words() {
        let hits = vec![hit("a cat", "s", 0.97), hit("a cat.", "t", 0.96), hit("a dog", "t", 0.95)];
        let ranking = RankingConfig { max_per_session: 1, ..RankingConfig::default() };
        assert_eq!(presented(hits, &ranking).0, ["a cat", "a dog"]);
    }
}
