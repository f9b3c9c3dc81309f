//! Sums up the trail of all users for operators: decisions, hits and the time of each step, without content and users.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::api::{
    ApiError, Caller, RecallSummaryRequest, RecallSummaryView, StepSummaryView,
    operations::Operations,
};
use memgate_recall::{RecallRecord, Standing, Step};

/// The requests that are summed up unless a time is named.
const LATEST: SignedDuration = SignedDuration::from_hours(1);

impl Operations {
    /// What recall did for the latest requests of all users.
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
    by_decision: BTreeMap<String, u64>,
    with_hits: u64,
    /// For each step the milliseconds of each request.
    steps: BTreeMap<&'static str, Vec<(f64, String)>>,
}

impl Sum {
    fn add(&mut self, record: &RecallRecord) {
        self.first_at = Some(record.at);
        *self.by_decision.entry(record.decision.to_owned()).or_default() += 1;
        let hit = record.presented().any(|it| it.standing == Standing::Presented);
        self.with_hits += u64::from(hit);
        for (step, took) in &record.steps {
            let times = self.steps.entry(step.into()).or_default();
            times.push((took.as_secs_f64() * 1_000.0, record.request_id.clone()));
        }
    }

    fn view(mut self, since: Timestamp) -> RecallSummaryView {
        let total = self.steps.remove(<&str>::from(Step::Total));
        let mut steps: Vec<_> = self.steps.into_iter().filter_map(summary).collect();
        steps.sort_by(|a, b| b.p95_ms.total_cmp(&a.p95_ms));
        RecallSummaryView {
            since,
            first_at: self.first_at,
            requests: self.by_decision.values().sum(),
            by_decision: self.by_decision,
            with_hits: self.with_hits,
            steps,
            total: total.and_then(|times| summary((Step::Total.into(), times))),
        }
    }
}

/// The quantiles of a step; none for a step that no request had.
fn summary((step, mut times): (&'static str, Vec<(f64, String)>)) -> Option<StepSummaryView> {
    times.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let last = times.len().checked_sub(1)?;
    // The nearest rank: a time that some request took.
    let at =
        |share: f64| times[((times.len() as f64 * share).ceil() as usize).clamp(1, last + 1) - 1].0;
    Some(StepSummaryView {
        step: step.to_owned(),
        requests: times.len() as u64,
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        max_ms: at(1.0),
        slowest_request_id: times[last].1.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_summed_up_by_the_nearest_ranks() {
        let times = (1..=20).rev().map(|ms| (f64::from(ms), format!("r{ms}"))).collect();
        let of = summary(("search", times)).unwrap();
        assert_eq!((of.p50_ms, of.p95_ms, of.max_ms, of.requests), (10.0, 19.0, 20.0, 20));
        assert_eq!(of.slowest_request_id, "r20");
        assert_eq!(summary(("embed", Vec::new())), None);
    }
}
