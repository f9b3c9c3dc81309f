//! Metrics from the ranks of evidence turns; all questions count the same.

use std::{collections::BTreeMap, time::Duration};

use serde::{Serialize, Serializer};

use crate::data::Digests;

/// The depths k of recall@k.
pub(super) const KS: [usize; 4] = [1, 5, 10, 20];

/// Number of bootstrap samples of an interval.
const SAMPLES: usize = 2_000;
/// Seed of the samples, always the same.
const SEED: u64 = 1;

/// The ranks of a question's evidence among the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ranking {
    /// Recall at each of [`KS`].
    recall: [f64; KS.len()],
    /// Reciprocal rank of the first evidence; 0 if none was found.
    reciprocal: f64,
}

impl Ranking {
    /// For hits in rank order.
    #[expect(clippy::cast_precision_loss, reason = "places are far below 2^52")]
    pub(super) fn of(hits: &[usize], evidence: &[usize]) -> Self {
        let found = |k: usize| hits.iter().take(k).filter(|hit| evidence.contains(hit)).count();
        let first = hits.iter().position(|hit| evidence.contains(hit));
        Self {
            recall: KS.map(|k| found(k) as f64 / evidence.len().max(1) as f64),
            reciprocal: first.map_or(0.0, |place| 1.0 / (place as f64 + 1.0)),
        }
    }
}

/// Result of one question.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) conversation: String,
    pub(super) category: u8,
    /// All that was found, before threshold and limit.
    pub(super) ranked: Ranking,
    /// Ranks of the evidence among the presented memories.
    pub(super) presented: Ranking,
    /// Backend and tokens of that context.
    pub(super) shown: usize,
    pub(super) tokens: usize,
    /// The nearest by cosine alone, and the best by BM25 alone.
    pub(super) cosine: Ranking,
    pub(super) bm25: Ranking,
    pub(super) took: Duration,
}

/// Means over some questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Figures {
    /// By depth: mean recall of the evidence.
    #[serde(serialize_with = "named")]
    pub(super) recall: BTreeMap<usize, f64>,
    /// Mean reciprocal rank of the first evidence.
    pub(super) mrr: f64,
    pub(super) questions: usize,
}

/// Serializes depths in numerical order.
fn named<S: Serializer>(by_depth: &BTreeMap<usize, f64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(by_depth.iter().map(|(k, share)| (k.to_string(), share)))
}

impl Figures {
    fn of(rankings: impl Iterator<Item = Ranking> + Clone) -> Self {
        let mean = |of: &dyn Fn(Ranking) -> f64| mean(rankings.clone().map(of));
        Self {
            recall: (0..).zip(KS).map(|(at, k)| (k, mean(&|it| it.recall[at]))).collect(),
            mrr: mean(&|it| it.reciprocal),
            questions: rankings.clone().count(),
        }
    }
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// All candidates, before threshold and limit.
    #[serde(flatten)]
    pub(super) all: Figures,
    pub(super) by_category: BTreeMap<u8, Figures>,
    pub(super) by_conversation: BTreeMap<String, Figures>,
    /// `None` for a single conversation.
    #[serde(flatten)]
    pub(super) interval: Option<Interval>,
    /// The memories that a request would get.
    pub(super) after_gate: AfterGate,
    pub(super) baselines: Baselines,
    /// Mean duration of embedding, search and ranking, in milliseconds.
    pub(super) ms_per_question: f64,
    #[serde(flatten)]
    pub(super) digests: Digests,
}

/// Uncertainty of the recall across conversations.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Interval {
    /// By depth: the 95% interval, by resampling whole conversations.
    #[serde(rename = "interval")]
    pub(super) by_depth: BTreeMap<usize, [f64; 2]>,
    #[serde(rename = "interval_samples")]
    pub(super) samples: usize,
    #[serde(rename = "interval_seed")]
    pub(super) seed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct AfterGate {
    #[serde(flatten)]
    pub(super) figures: Figures,
    /// Mean number of presented memories per question.
    pub(super) shown: f64,
    /// Mean number of tokens of a context.
    pub(super) tokens: f64,
}

/// Figures of the memories ranked by one kind of evidence alone.
#[derive(Debug, Serialize)]
pub(super) struct Baselines {
    pub(super) cosine: Figures,
    pub(super) bm25: Figures,
}

impl Report {
    #[expect(clippy::cast_precision_loss, reason = "counts of a context are far below 2^52")]
    pub(super) fn of(answers: &[Answer], digests: Digests) -> Self {
        Self {
            all: Figures::of(answers.iter().map(|it| it.ranked)),
            by_category: groups(answers, |it| it.category),
            by_conversation: groups(answers, |it| it.conversation.clone()),
            interval: interval(answers),
            after_gate: AfterGate {
                figures: Figures::of(answers.iter().map(|it| it.presented)),
                shown: mean(answers.iter().map(|it| it.shown as f64)),
                tokens: mean(answers.iter().map(|it| it.tokens as f64)),
            },
            baselines: Baselines {
                cosine: Figures::of(answers.iter().map(|it| it.cosine)),
                bm25: Figures::of(answers.iter().map(|it| it.bm25)),
            },
            ms_per_question: mean(answers.iter().map(|it| it.took.as_secs_f64() * 1e3)),
            digests,
        }
    }
}

fn groups<K: Ord>(answers: &[Answer], key: impl Fn(&Answer) -> K) -> BTreeMap<K, Figures> {
    let mut groups: BTreeMap<K, Vec<Ranking>> = BTreeMap::new();
    for answer in answers {
        groups.entry(key(answer)).or_default().push(answer.ranked);
    }
    groups.into_iter().map(|(key, of)| (key, Figures::of(of.into_iter()))).collect()
}

/// Questions of one conversation are not independent, so conversations are resampled, not
/// questions.
fn interval(answers: &[Answer]) -> Option<Interval> {
    let mut by_conversation: BTreeMap<&str, Vec<Ranking>> = BTreeMap::new();
    for answer in answers {
        by_conversation.entry(&answer.conversation).or_default().push(answer.ranked);
    }
    let conversations: Vec<Vec<Ranking>> = by_conversation.into_values().collect();
    if conversations.len() < 2 {
        return None;
    }
    let mut draws = Draws(SEED);
    let mut samples: [Vec<f64>; KS.len()] = Default::default();
    for _ in 0..SAMPLES {
        let drawn: Vec<_> = (0..conversations.len())
            .filter_map(|_| conversations.get(draws.below(conversations.len())))
            .collect();
        for (at, sample) in samples.iter_mut().enumerate() {
            sample.push(mean(drawn.iter().copied().flatten().map(|it| it.recall[at])));
        }
    }
    let ends = |mut sample: Vec<f64>| {
        sample.sort_by(f64::total_cmp);
        [sample[SAMPLES / 40], sample[SAMPLES - 1 - SAMPLES / 40]]
    };
    let by_depth = KS.into_iter().zip(samples.map(ends)).collect();
    Some(Interval { by_depth, samples: SAMPLES, seed: SEED })
}

/// A linear congruential generator (Knuth's MMIX), sufficient for resampling a few conversations.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^52")]
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn answer(conversation: &str, category: u8, hits: &[usize], evidence: &[usize]) -> Answer {
        let ranked = Ranking::of(hits, evidence);
        let presented = Ranking::of(&hits[..1], evidence);
        Answer {
            conversation: conversation.into(),
            category,
            ranked,
            presented,
            shown: 1,
            tokens: 30,
            cosine: Ranking::default(),
            bm25: ranked,
            took: Duration::from_millis(2),
        }
    }

    #[test]
    fn recall_is_averaged_over_questions() {
        let answers = [
            answer("a", 1, &[9, 3, 8, 7, 6, 4], &[3, 4]),
            answer("a", 4, &[5, 1], &[5]),
            answer("b", 4, &[0, 2], &[5]),
        ];
        let report = Report::of(&answers, Digests::default());
        let shares: Vec<f64> = report.all.recall.values().copied().collect();
        assert_eq!(shares, [1.0 / 3.0, 0.5, 2.0 / 3.0, 2.0 / 3.0]);
        assert!((report.all.mrr - 0.5).abs() < 1e-9);
        assert_eq!(report.by_category[&4].recall[&1], 0.5);
        assert_eq!(report.by_conversation["b"].recall[&20], 0.0);
        assert_eq!(report.after_gate.figures.recall[&20], 1.0 / 3.0);
        let json = serde_json::to_value(&report).unwrap_or_default();
        assert_eq!(json["recall"]["1"], 1.0 / 3.0);
        assert_eq!(json["after_gate"]["recall"]["1"], 1.0 / 3.0);
        assert_eq!(json["baselines"]["cosine"]["mrr"], 0.0);
    }

    #[test]
    fn an_interval_requires_two_conversations() {
        let of = |names: &[&str]| {
            let answers = names.iter().zip([5, 6]).map(|(name, hit)| answer(name, 4, &[hit], &[5]));
            let report = Report::of(&answers.collect::<Vec<_>>(), Digests::default());
            serde_json::to_value(report).unwrap_or_default()
        };
        let (two, one) = (of(&["a", "b"]), of(&["a", "a"]));
        assert_eq!(two["interval"]["5"], serde_json::json!([0.0, 1.0]));
        assert_eq!((&two["interval_samples"], &two["interval_seed"]), (&2_000.into(), &1.into()));
        assert!(one["interval"].is_null() && one["interval_seed"].is_null(), "{one}");
        assert_eq!(one["recall"]["5"], 0.5);
    }
}
