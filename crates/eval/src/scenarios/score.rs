//! Scores presented memories against labels, and sums over scenarios.

use std::collections::BTreeMap;

use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use crate::{
    count::{share, wilson},
    data::Digests,
    replay::{Recalled, Scenario, lines},
};
use memgate_recall::{Budget, ContextContent, Hit, write_context};

/// Token limit for rendering one memory alone; large enough to have no effect.
const WHOLE: usize = 65_536;

/// The score of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Number of needed items, and how many were presented.
    pub(crate) needed: usize,
    pub(crate) found: usize,
    /// Number of presented memories, and how many contain a needed item.
    pub(crate) shown: usize,
    pub(crate) useful: usize,
    /// Whether something was presented that must not be.
    pub(crate) stale: bool,
}

impl Outcome {
    pub(crate) fn of(scenario: &Scenario, recalled: &Recalled) -> Self {
        let holds = |line: &str, item: &[String]| item.iter().any(|words| line.contains(words));
        let presented = &lines(&recalled.context);
        let useful = presented
            .lines()
            .filter(|line| scenario.must_recall.iter().any(|item| holds(line, item)))
            .count();
        Self {
            needed: scenario.must_recall.len(),
            found: scenario.must_recall.iter().filter(|item| holds(presented, item)).count(),
            shown: recalled.context.shown.len(),
            useful,
            stale: scenario.must_not_recall.iter().any(|words| presented.contains(words)),
        }
    }

    /// Whether all needed items were presented and nothing forbidden.
    pub(crate) fn is_right(&self) -> bool {
        self.found == self.needed && !self.stale
    }
}

/// The needed items that a candidate contains when presented alone.
pub(crate) fn items_in(scenario: &Scenario, hit: &Hit) -> Vec<usize> {
    let line = alone(hit);
    let items = scenario.must_recall.iter().enumerate();
    let held = items.filter(|(_, item)| item.iter().any(|words| line.contains(words)));
    held.map(|(number, _)| number).collect()
}

/// Whether a candidate contains something that must not be presented.
pub(crate) fn is_stale(scenario: &Scenario, hit: &Hit) -> bool {
    let line = alone(hit);
    scenario.must_not_recall.iter().any(|words| line.contains(words))
}

fn alone(hit: &Hit) -> String {
    let hits = std::slice::from_ref(hit);
    let alone = ContextContent {
        preferences: &[],
        wishes: &[],
        hits,
        query: "",
        now: Timestamp::MAX,
        zone: &TimeZone::UTC,
    };
    lines(&write_context(&alone, Budget { context: WHOLE, standing: 0 }))
}

/// Metrics over some scenarios; `None` where the total is 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Shares {
    /// Number of scenarios.
    pub(crate) scenarios: usize,
    /// Share of the needed items that were presented.
    pub(crate) recall: Option<f64>,
    /// Share of the presented memories that contain a needed item.
    pub(crate) precision: Option<f64>,
    /// Mean number of presented memories per question.
    pub(crate) shown: f64,
}

impl Shares {
    fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Self {
        let sum = |of: fn(&Outcome) -> usize| outcomes.clone().map(of).sum::<usize>();
        let scenarios = outcomes.clone().count();
        Self {
            scenarios,
            recall: share(sum(|o| o.found), sum(|o| o.needed)),
            precision: share(sum(|o| o.useful), sum(|o| o.shown)),
            shown: share(sum(|o| o.shown), scenarios).unwrap_or(0.0),
        }
    }
}

/// The result, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Over all scenarios.
    #[serde(flatten)]
    pub(crate) all: Shares,
    /// 95% interval (Wilson) of the recall.
    pub(crate) recall_interval: Option<[f64; 2]>,
    /// Share of the negative scenarios without unrelated memories.
    pub(crate) negatives_clean: Option<f64>,
    /// Its 95% interval (Wilson).
    pub(crate) negatives_clean_interval: Option<[f64; 2]>,
    /// Share of the update scenarios with an outdated value.
    pub(crate) outdated_shown: Option<f64>,
    /// Share of the update scenarios with all needed items and no outdated value.
    pub(crate) updates_right: Option<f64>,
    /// By kind of scenario.
    pub(crate) by_kind: BTreeMap<String, Shares>,
    /// By language of the scenario.
    pub(crate) by_lang: BTreeMap<String, Shares>,
    /// Ids of the scenarios with a missing item or a forbidden one.
    pub(crate) errors: Vec<String>,
    #[serde(flatten)]
    pub(crate) digests: Digests,
}

impl Report {
    pub(crate) fn of(results: &[(&Scenario, Outcome)], digests: Digests) -> Self {
        // Number of scenarios of a kind that satisfy `so`, and their total.
        let count = |kind: &str, so: fn(&Outcome) -> bool| {
            let some = results.iter().filter(|(scenario, _)| scenario.kind == kind);
            (some.clone().filter(|(_, outcome)| so(outcome)).count(), some.count())
        };
        let (clean, negatives) = count("negative", |outcome| !outcome.stale);
        let (outdated, updates) = count("update", |outcome| outcome.stale);
        let (right, _) = count("update", Outcome::is_right);
        let sum = |of: fn(&Outcome) -> usize| results.iter().map(|(_, outcome)| of(outcome)).sum();
        Self {
            all: Shares::of(results.iter().map(|(_, outcome)| outcome)),
            recall_interval: wilson(sum(|it| it.found), sum(|it| it.needed)),
            negatives_clean: share(clean, negatives),
            negatives_clean_interval: wilson(clean, negatives),
            outdated_shown: share(outdated, updates),
            updates_right: share(right, updates),
            by_kind: groups(results, |scenario| &scenario.kind),
            by_lang: groups(results, |scenario| &scenario.lang),
            errors: results
                .iter()
                .filter(|(_, outcome)| !outcome.is_right())
                .map(|(scenario, _)| scenario.id.clone())
                .collect(),
            digests,
        }
    }
}

fn groups(
    results: &[(&Scenario, Outcome)],
    key: impl Fn(&Scenario) -> &String,
) -> BTreeMap<String, Shares> {
    let names: std::collections::BTreeSet<&String> =
        results.iter().map(|(scenario, _)| key(scenario)).collect();
    let of = |name: &String| {
        let some = results.iter().filter(|(scenario, _)| key(scenario) == name);
        Shares::of(some.map(|(_, outcome)| outcome))
    };
    names.into_iter().map(|name| (name.clone(), of(name))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use memgate_core::memory::MemoryId;
    use memgate_recall::Context;

    fn scenario(kind: &str, needed: &[&[&str]], forbidden: &[&str]) -> Scenario {
        serde_json::from_value(json!({
            "id": kind, "lang": "en", "kind": kind, "sessions": [],
            "ask": {"date": "2026-05-01T10:00:00Z", "turns": [], "user": "?"},
            "must_recall": needed, "must_not_recall": forbidden,
        }))
        .unwrap()
    }

    fn outcome(scenario: &Scenario, presented: &[&str]) -> Outcome {
        let shown = presented.iter().map(|_| MemoryId::fresh()).collect();
        let context = Context { text: presented.join("\n"), shown, ..Context::default() };
        Outcome::of(scenario, &Recalled { context, ..Recalled::default() })
    }

    #[test]
    fn any_alternative_counts_and_useless_memories_reduce_precision() {
        let scenario = scenario("fact", &[&["ten", "10"], &["maui"]], &[]);
        let half = outcome(&scenario, &["- it is 10", "- rain", "- in 10 days"]);
        assert_eq!((half.found, half.needed, half.useful, half.shown), (1, 2, 2, 3));
        assert!(!half.is_right());
        assert!(outcome(&scenario, &["- ten for maui"]).is_right());
    }

    #[test]
    fn forbidden_texts_are_counted_by_kind() {
        let update = scenario("update", &[&["new"]], &["old"]);
        let negative = scenario("negative", &[], &["dog"]);
        let clean = scenario("negative", &[], &["cat"]);
        let results = [
            (&update, outcome(&update, &["- new", "- old"])),
            (&negative, outcome(&negative, &["- my dog"])),
            (&clean, outcome(&clean, &["- my dog"])),
        ];
        let report = Report::of(&results, Digests::default());
        assert_eq!((report.all.recall, report.all.precision), (Some(1.0), Some(0.25)));
        assert_eq!(report.negatives_clean, Some(0.5));
        assert_eq!(report.outdated_shown, Some(1.0));
        assert_eq!(report.updates_right, Some(0.0));
        assert_eq!(report.errors, ["update", "negative"]);
        assert_eq!(report.by_kind["negative"].recall, None);
        assert_eq!(report.by_kind["update"].precision, Some(0.5));
        assert_eq!(report.by_lang["en"].scenarios, 3);
        assert_eq!(report.recall_interval, wilson(1, 1));
        assert_eq!(report.negatives_clean_interval, wilson(1, 2));
        let json = serde_json::to_value(&report).unwrap();
        for key in ["recall", "precision", "shown", "scenarios", "data_sha256", "model_sha256"] {
            assert!(!json[key].is_null(), "{key}");
        }
        let empty = serde_json::to_value(Report::of(&[], Digests::default())).unwrap();
        for key in ["recall", "recall_interval", "negatives_clean", "precision"] {
            assert!(empty[key].is_null(), "{key}");
        }
    }
}
