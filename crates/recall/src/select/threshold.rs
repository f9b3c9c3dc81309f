//! Which of the ranked hits are presented. Relevance decides which pass, the order which come first.

use std::collections::HashMap;
use std::time::Instant;

use crate::{
    hit::Hit,
    ranking::RankStep,
    request::{RecallRequest, Selection},
    select::dedup::Presented,
    settings::RankingConfig,
    trail::{Cut, Trace},
};
use memgate_core::memory::MemoryKind;
use memgate_models::log_odds;
use memgate_telemetry::Metrics;

/// How much more relevant than every other hit a summary must be to be presented beside them, in log-odds: where turns
/// only touch on what is asked, it alone may answer. On the stories in testdata it changes nothing.
const CLEARLY: f32 = 1.0;

/// The ranked hits that are presented.
#[must_use]
pub fn select(
    hits: Vec<Hit>,
    selection: &Selection,
    ranking: &RankingConfig,
    metrics: &Metrics,
) -> Vec<Hit> {
    Limits { selection, ranking, trace: None }.select(hits, metrics)
}

/// The limits of a request's hits.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    selection: &'a Selection,
    ranking: &'a RankingConfig,
    /// Where hits that are cut go; nowhere without it.
    trace: Option<&'a Trace>,
}

impl<'a> Limits<'a> {
    pub(crate) fn of(request: &RecallRequest<'a>) -> Self {
        let RecallRequest { selection, settings, trace, .. } = *request;
        Self { selection, ranking: settings.ranking, trace }
    }

    /// The ranked hits that are presented. Summaries only where nothing else is, and one that is clearly better than all
    /// else.
    pub(crate) fn select(self, hits: Vec<Hit>, metrics: &Metrics) -> Vec<Hit> {
        let started = Instant::now();
        let limit = self.selection.limit;
        let mut left_out = LeftOut::new(self.trace.map(|_| hits.len()));
        let (others, summaries) = without_summaries(hits);
        let mut presented = passing(others, self, &mut left_out);
        let best = presented.iter().map(|hit| hit.score).fold(0.0, f32::max);
        let counted = (left_out.distinct, left_out.session);
        let mut summaries = passing(summaries, self, &mut left_out);
        (left_out.distinct, left_out.session) = counted;
        if presented.is_empty() {
            presented = summaries;
        } else {
            let far = log_odds(best) + CLEARLY;
            let mut taken = 0;
            let is_beside = |summary: &mut Hit| {
                taken += usize::from(log_odds(summary.score) >= far);
                log_odds(summary.score) < far || taken > 1
            };
            let beside = summaries.extract_if(.., is_beside);
            beside.for_each(|summary| left_out.cut(summary, Cut::Summary));
            presented.splice(0..0, summaries);
            let many = presented.drain(limit.min(presented.len())..);
            many.for_each(|hit| left_out.cut(hit, Cut::Limit));
        }
        metrics.ranked(RankStep::Select.into(), started.elapsed(), presented.len());
        left_out.count(self.ranking, metrics);
        if let (Some(trace), Some(cut)) = (self.trace, left_out.hits) {
            trace.cut(cut);
        }
        presented
    }
}

/// The hits that are not presented: how many each rule left out, and the hits themselves, where
/// there is a trace.
struct LeftOut {
    distinct: usize,
    session: usize,
    hits: Option<Vec<(Hit, Cut)>>,
}

/// A rule that leaves out memories above the threshold, by the key of `memory.ranking` that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum RankRule {
    /// A near-duplicate of a better memory.
    Deduplicate,
    /// Its session already has the maximum number of memories.
    MaxPerSession,
}

impl LeftOut {
    /// `traced`: how many hits there are, where they go into a trace.
    fn new(traced: Option<usize>) -> Self {
        Self { distinct: 0, session: 0, hits: traced.map(Vec::with_capacity) }
    }

    fn cut(&mut self, hit: Hit, why: Cut) {
        match why {
            Cut::NearDuplicate => self.distinct += 1,
            Cut::SessionCap => self.session += 1,
            _ => {}
        }
        if let Some(hits) = &mut self.hits {
            hits.push((hit, why));
        }
    }

    fn count(&self, ranking: &RankingConfig, metrics: &Metrics) {
        let rules = [
            (RankRule::Deduplicate, ranking.deduplicate, self.distinct),
            (RankRule::MaxPerSession, ranking.max_per_session > 0, self.session),
        ];
        for (rule, on, hits) in rules {
            if on {
                metrics.left_out(rule, hits as u64);
            }
        }
    }
}

/// Each hit is compared only until there are enough: of all that was found, few are presented.
fn passing(hits: Vec<Hit>, limits: Limits<'_>, left_out: &mut LeftOut) -> Vec<Hit> {
    let Limits { selection, ranking, trace } = limits;
    let mut shown: Vec<Hit> = Vec::new();
    let mut before = Presented::default();
    let mut sessions: HashMap<String, usize> = HashMap::new();
    for hit in hits {
        let is_full = shown.len() == selection.limit;
        if is_full && trace.is_none() {
            break;
        }
        let max_per_session = ranking.max_per_session;
        let fills_session = |hit: &Hit| {
            let session = hit.memory.session_id.as_ref().filter(|_| max_per_session > 0);
            let shown = session.and_then(|session| sessions.get(session));
            shown.is_some_and(|shown| *shown >= max_per_session)
        };
        let cut = if hit.score < selection.threshold {
            Some(Cut::Threshold)
        } else if is_full {
            Some(Cut::Limit)
        } else if fills_session(&hit) {
            Some(Cut::SessionCap)
        } else if ranking.deduplicate && !before.is_new(&hit) {
            Some(Cut::NearDuplicate)
        } else {
            None
        };
        if let Some(why) = cut {
            left_out.cut(hit, why);
            continue;
        }
        if let Some(session) = &hit.memory.session_id {
            *sessions.entry(session.clone()).or_default() += 1;
        }
        shown.push(hit);
    }
    shown
}

/// Takes the summaries of sessions out of the hits. A fact or a turn says it better; beside these a summary repeats
/// them, or says what they have corrected since.
fn without_summaries(hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
    hits.into_iter().partition(|hit| hit.memory.kind != MemoryKind::Summary)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ScoreBreakdown;
    use memgate_core::memory::{Memory, MemoryId, MemoryKind, MemoryType, Owner, Source};

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

    /// The hits that a ranking presents, and the metrics.
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
                "deduplicate" => ranking.deduplicate = true,
                _ => ranking.max_per_session = 1,
            }
            ranking
        };
        let rules = [("deduplicate", "a cat!"), ("max_per_session", "a dog")];
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
            summary.memory.kind = MemoryKind::Summary;
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
