//! Sums up the trail of all users for operators: decisions, hits and the time of each step, without content and users.

use std::{borrow::Cow, collections::BTreeMap};

use jiff::{SignedDuration, Timestamp};

use crate::api::{
    ApiError, Caller, RecallSummaryRequest, RecallSummaryView, StepSummaryView,
    operations::Operations,
};
use memgate_recall::{RecallRecord, Standing, Step};

/// The requests that are summed up unless a time is named.
const LATEST: SignedDuration = SignedDuration::from_hours(1);

impl Operations {
    /// Summarises recall for the latest requests of all users.
    ///
    /// # Errors
    /// None.
    pub async fn recall_summary(
        &self,
        _: &Caller,
        RecallSummaryRequest { since }: RecallSummaryRequest,
    ) -> Result<RecallSummaryView, ApiError> {
        let since = since
            .unwrap_or_else(|| self.clock.now().saturating_sub(LATEST).unwrap_or(Timestamp::MIN));
        let mut sum = Sum::default();
        self.recall.trail().since(since, |record| sum.add(record)).await;
        Ok(sum.view(since))
    }
}

#[derive(Default)]
struct Sum {
    first_at: Option<Timestamp>,
    by_decision: BTreeMap<Cow<'static, str>, u64>,
    with_hits: u64,
    steps: BTreeMap<&'static str, Times>,
}

/// How long a step took for each request that had it, in milliseconds.
#[derive(Default)]
struct Times {
    all: Vec<f64>,
    longest: f64,
    slowest: String,
}

impl Sum {
    fn add(&mut self, record: &RecallRecord) {
        self.first_at = self.first_at.into_iter().chain([record.at]).min();
        *self.by_decision.entry(record.decision.clone()).or_default() += 1;
        let hit = record.presented().any(|it| it.standing == Standing::Presented);
        self.with_hits += u64::from(hit);
        for (step, took) in &record.steps {
            let step: &'static str = step.into();
            self.steps.entry(step).or_default().add(took.as_secs_f64() * 1_000.0, record);
        }
    }

    fn view(mut self, since: Timestamp) -> RecallSummaryView {
        let total: &'static str = Step::Total.into();
        let total = self.steps.remove(total).map(|times| times.view(total));
        let mut steps: Vec<_> =
            self.steps.into_iter().map(|(step, times)| times.view(step)).collect();
        steps.sort_by(|a, b| b.p95_ms.total_cmp(&a.p95_ms));
        let requests = self.by_decision.values().sum();
        let by_decision = self.by_decision.into_iter();
        RecallSummaryView {
            since,
            first_at: self.first_at,
            requests,
            by_decision: by_decision
                .map(|(name, requests)| (name.into_owned(), requests))
                .collect(),
            with_hits: self.with_hits,
            steps,
            total,
        }
    }
}

impl Times {
    fn add(&mut self, ms: f64, of: &RecallRecord) {
        if self.all.is_empty() || ms > self.longest {
            self.longest = ms;
            self.slowest.clone_from(&of.request_id);
        }
        self.all.push(ms);
    }

    fn view(mut self, step: &str) -> StepSummaryView {
        self.all.sort_by(f64::total_cmp);
        StepSummaryView {
            step: step.to_owned(),
            requests: self.all.len() as u64,
            p50_ms: nearest_rank(&self.all, 0.5),
            p95_ms: nearest_rank(&self.all, 0.95),
            max_ms: self.longest,
            slowest_request_id: self.slowest,
        }
    }
}

/// A quantile of sorted values: one of them. 0 without values.
fn nearest_rank(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_nearest_rank() {
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!([0.5, 0.95, 1.0].map(|share| nearest_rank(&times, share)), [10.0, 19.0, 20.0]);
        assert_eq!(nearest_rank(&[], 0.5), 0.0);
    }
}
