//! The metrics served at `/metrics`, in the OpenMetrics text format. One [`Metrics`] is created at
//! start-up and passed to all parts. A new metric needs a field, a line in [`Metrics::new`] and a
//! small method.

use std::{sync::Arc, time::Duration};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::{Metric, Registry},
};

use crate::{RankRule, RankStep};

/// The content type of [`Metrics::encode`].
pub const METRICS_CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Seconds, from 100 µs to 5 s; the default deadline lies in the middle.
const SECONDS: [f64; 15] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
];
/// Seconds, from 1 µs to 5 ms, for the steps of ranking.
const RANKING_SECONDS: [f64; 11] =
    [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3];
/// Number of presented memories; the limit is 50.
const HITS: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0];

type Label = [(&'static str, &'static str); 1];
type TwoLabels = [(&'static str, &'static str); 2];
type OwnLabel = [(&'static str, String); 1];

/// All metrics.
pub struct Metrics {
    registry: Registry,
    decisions: Family<Label, Counter>,
    deciders: Family<Label, Counter>,
    failures: Family<Label, Counter>,
    phases: Family<Label, Histogram>,
    hits: Histogram,
    techniques: Family<Label, Histogram>,
    technique_hits: Family<Label, Counter>,
    ranking: Family<Label, Histogram>,
    ranking_hits: Family<Label, Counter>,
    ranking_left_out: Family<Label, Counter>,
    in_flight: Gauge,
    turns_journaled: Counter,
    turns_pruned: Counter,
    capture_dropped: Family<Label, Counter>,
    screened: Family<Label, Counter>,
    refused: Family<Label, Counter>,
    candidates_dropped: Family<Label, Counter>,
    reconciled: Family<Label, Counter>,
    memories_stored: Family<OwnLabel, Counter>,
    commands: Family<Label, Counter>,
    commands_done: Family<Label, Counter>,
    jobs: Family<Label, Gauge>,
    dead_jobs: Family<Label, Gauge>,
    lag: Gauge,
    job_runs: Family<TwoLabels, Counter>,
    embedding: Histogram,
    models_missing: Family<OwnLabel, Counter>,
    store_up: Gauge,
    embedder_up: Gauge,
    reloads: Family<Label, Counter>,
    identity_mode: Family<Label, Gauge>,
}

/// A phase of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    /// Reading the body.
    Read,
    /// Deciding whether to search.
    Decide,
    /// Preparing the query.
    Query,
    /// Embedding the query.
    Embed,
    /// Searching the store.
    Search,
    /// Ranking, rendering and placing the context.
    Context,
    /// Everything the request waited for.
    Total,
}

impl Phase {
    const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;
}

/// A technique that prepares a query for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Technique {
    /// Key terms of earlier messages, for a vague query.
    KeyTerms,
    /// Times that the query names.
    Times,
    /// The parts of a query that asks for several things.
    Parts,
    /// A statement in place of a question.
    Statements,
    /// A vague query, rewritten by a model.
    Rewrite,
    /// A guessed answer by a model (HyDE).
    Hyde,
    /// A metadata filter that a model reads from the query.
    SelfQuery,
}

/// Why an exchange was not learned from, although nothing opted out of learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CaptureDrop {
    /// All exchanges together exceeded `memory.capture.max_in_flight_bytes`.
    OverBudget,
    /// The journal's queue was full.
    QueueFull,
    /// The request or the reply was too large.
    TooLarge,
    /// The body could not be read.
    Unreadable,
    /// The reply did not end well: an error status, or truncated.
    Incomplete,
    /// The journal could not store the turn.
    Journal,
    /// Screening removed the whole text.
    Screened,
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum JobState {
    /// Waiting for its due time or for a worker.
    Pending,
    /// Run by a worker.
    Running,
    /// Failed on its last attempt.
    Dead,
}

/// Outcome of one run of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum JobOutcome {
    /// Succeeded.
    Done,
    /// Failed; will be retried.
    Retry,
    /// Could not run because a dependency was unavailable; will run again.
    Postponed,
    /// Failed on its last attempt.
    Dead,
}

/// Outcome of reconciling a candidate with the stored memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Reconciled {
    /// A new memory.
    Created,
    /// A new version of a memory.
    Updated,
    /// A repeated statement; the memory's confidence rises.
    Reinforced,
    /// A memory that no longer holds.
    Superseded,
    /// A memory that may no longer hold; it stays, and is marked.
    Doubted,
    /// A turn memory of which outdated sentences were removed.
    Outdated,
    /// Two contradicting memories, marked for review.
    Review,
}

impl Metrics {
    /// All metrics at zero.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let mut at = Registration(Registry::with_prefix("memgate"));
        at.0.register(
            "build",
            "Version of memgate; the value is always 1",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        let seconds: fn() -> Histogram = || Histogram::new(SECONDS);
        let this = Self {
            decisions: at.add("decisions", "Number of exchanges by decision", Family::default()),
            deciders: at.add(
                "deciders",
                "Number of decisions whether to search, by the source of the decision",
                Family::default(),
            ),
            failures: at.add(
                "failures",
                "Number of failed memory steps by kind",
                Family::default(),
            ),
            phases: at.add(
                "phase_seconds",
                "Duration of the phases of a request, in seconds",
                Family::new_with_constructor(seconds),
            ),
            hits: at.add(
                "hits",
                "Number of memories presented per searched request",
                Histogram::new(HITS),
            ),
            techniques: at.add(
                "query_technique_seconds",
                "Duration of query techniques that contributed to a query, in seconds",
                Family::new_with_constructor(seconds),
            ),
            technique_hits: at.add(
                "query_technique_hits",
                "Number of presented memories that a query technique found or boosted",
                Family::default(),
            ),
            ranking: at.add(
                "ranking_seconds",
                "Duration of the steps of ranking, in seconds",
                Family::new_with_constructor(|| Histogram::new(RANKING_SECONDS)),
            ),
            ranking_hits: at.add(
                "ranking_hits",
                "Number of memories affected by a step of ranking",
                Family::default(),
            ),
            ranking_left_out: at.add(
                "ranking_left_out",
                "Number of relevant memories left out of the context by a rule of ranking",
                Family::default(),
            ),
            in_flight: at.add(
                "exchanges_in_flight",
                "Number of exchanges in flight",
                Gauge::default(),
            ),
            turns_journaled: at.add(
                "turns_journaled",
                "Number of turns durably written to the journal",
                Counter::default(),
            ),
            turns_pruned: at.add(
                "turns_pruned",
                "Number of turns removed from the journal after their retention",
                Counter::default(),
            ),
            capture_dropped: at.add(
                "capture_dropped",
                "Number of exchanges not learned from by reason",
                Family::default(),
            ),
            screened: at.add(
                "screened",
                "Number of secrets removed from texts by kind",
                Family::default(),
            ),
            refused: at.add(
                "refused",
                "Number of sentences of messages and replies refused by reason",
                Family::default(),
            ),
            candidates_dropped: at.add(
                "candidates_dropped",
                "Number of extraction candidates dropped by reason",
                Family::default(),
            ),
            reconciled: at.add(
                "reconciled",
                "Number of reconciliation outcomes",
                Family::default(),
            ),
            memories_stored: at.add(
                "memories_stored",
                "Number of memories created or updated by type",
                Family::default(),
            ),
            commands: at.add(
                "commands",
                "Number of accepted remember and forget commands",
                Family::default(),
            ),
            commands_done: at.add(
                "commands_memories",
                "Number of memories stored or deleted by remember and forget commands",
                Family::default(),
            ),
            jobs: at.add("jobs", "Number of jobs in the journal by state", Family::default()),
            dead_jobs: at.add("dead_jobs", "Number of dead jobs by kind", Family::default()),
            lag: at.add(
                "jobs_lag_seconds",
                "Age of the oldest due job, in seconds",
                Gauge::default(),
            ),
            job_runs: at.add(
                "job_runs",
                "Number of job runs by kind and outcome",
                Family::default(),
            ),
            embedding: at.add(
                "embedding_seconds",
                "Duration of embedding calls including queueing, without cached texts, in seconds",
                seconds(),
            ),
            models_missing: at.add(
                "embedding_models_missing",
                "Number of queries searched without the vector of one of several embedding models",
                Family::default(),
            ),
            store_up: at.add("store_up", "1 if the store works, else 0", Gauge::default()),
            embedder_up: at.add("embedder_up", "1 if the embedder works, else 0", Gauge::default()),
            reloads: at.add(
                "config_reloads",
                "Number of configuration reloads by outcome",
                Family::default(),
            ),
            identity_mode: at.add(
                "identity_mode",
                "1 for the identity mode in use",
                Family::default(),
            ),
            registry: at.0,
        };
        for &phase in Phase::ALL {
            // Histograms without observations are shown too, so that dashboards find them.
            drop(this.phases.get_or_create(&[("phase", phase.into())]));
        }
        Arc::new(this)
    }

    /// The text served at `/metrics`.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Counts the decision of an exchange, by its value in `x-memgate-decision`.
    pub fn decided(&self, decision: &'static str) {
        self.decisions.get_or_create(&[("decision", decision)]).inc();
    }

    /// Counts a decision whether to search by its source: `earlier`, `rule`, `lexical`, `model`.
    pub fn decided_by(&self, source: &'static str) {
        self.deciders.get_or_create(&[("source", source)]).inc();
    }

    /// Counts a failed memory step: `embedding`, `store`, `deadline`, `identity`, …
    pub fn failed(&self, kind: &'static str) {
        self.failures.get_or_create(&[("kind", kind)]).inc();
    }

    /// Records the duration of a phase of a request.
    pub fn phase(&self, phase: Phase, took: Duration) {
        self.phases.get_or_create(&[("phase", phase.into())]).observe(took.as_secs_f64());
    }

    /// Records the number of memories presented to a searched request.
    pub fn presented(&self, hits: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most 50")]
        self.hits.observe(hits as f64);
    }

    /// Records a technique that contributed to a query: its duration and the number of presented
    /// memories that it found or boosted.
    pub fn technique(&self, technique: Technique, took: Duration, hits: usize) {
        let label = [("technique", technique.into())];
        self.techniques.get_or_create(&label).observe(took.as_secs_f64());
        self.technique_hits.get_or_create(&label).inc_by(hits as u64);
    }

    /// Records a step of ranking: its duration and the number of memories that it affected.
    pub fn ranked(&self, step: RankStep, took: Duration, hits: usize) {
        let label = [("step", step.into())];
        self.ranking.get_or_create(&label).observe(took.as_secs_f64());
        self.ranking_hits.get_or_create(&label).inc_by(hits as u64);
    }

    /// Counts memories above the threshold that a rule of ranking left out.
    pub fn left_out(&self, rule: RankRule, hits: usize) {
        self.ranking_left_out.get_or_create(&[("rule", rule.into())]).inc_by(hits as u64);
    }

    /// Counts an exchange in flight until the guard is dropped.
    #[must_use]
    pub fn exchange(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Counts turns that are durable now.
    pub fn journaled(&self, turns: u64) {
        self.turns_journaled.inc_by(turns);
    }

    /// Counts turns removed from the journal because they are learned and past their retention.
    pub fn pruned(&self, turns: u64) {
        self.turns_pruned.inc_by(turns);
    }

    /// Counts an exchange that is not learned from.
    pub fn dropped(&self, reason: CaptureDrop) {
        self.capture_dropped.get_or_create(&[("reason", reason.into())]).inc();
    }

    /// Counts secrets of one kind that were removed from a text.
    pub fn screened(&self, kind: &'static str, count: u64) {
        self.screened.get_or_create(&[("kind", kind)]).inc_by(count);
    }

    /// Counts a refused sentence: `secret`, `injection` or `no_store`.
    pub fn refused(&self, why: &'static str) {
        self.refused.get_or_create(&[("reason", why)]).inc();
    }

    /// Counts extraction candidates that were dropped.
    pub fn candidates_dropped(&self, reason: &'static str, count: u64) {
        self.candidates_dropped.get_or_create(&[("reason", reason)]).inc_by(count);
    }

    /// Counts a reconciliation outcome.
    pub fn reconciled(&self, outcome: Reconciled) {
        self.reconciled.get_or_create(&[("outcome", outcome.into())]).inc();
    }

    /// Counts a memory that was created or updated. The number of types is small: the configured
    /// ones.
    pub fn stored(&self, memory_type: &str) {
        self.memories_stored.get_or_create(&[("type", memory_type.to_owned())]).inc();
    }

    /// Counts an accepted memory command of a user.
    pub fn commanded(&self, command: &'static str) {
        self.commands.get_or_create(&[("command", command)]).inc();
    }

    /// Counts statements remembered or memories deleted by a command.
    pub fn command_done(&self, command: &'static str, memories: u64) {
        self.commands_done.get_or_create(&[("command", command)]).inc_by(memories);
    }

    /// Sets the number of jobs in this state.
    pub fn set_jobs(&self, state: JobState, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.jobs.get_or_create(&[("state", state.into())]).set(count);
    }

    /// Sets the number of dead jobs of this kind.
    pub fn set_dead_jobs(&self, kind: &'static str, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.dead_jobs.get_or_create(&[("kind", kind)]).set(count);
    }

    /// Sets the age of the oldest due job.
    pub fn set_lag(&self, late: Duration) {
        self.lag.set(i64::try_from(late.as_secs()).unwrap_or(i64::MAX));
    }

    /// Counts a run of a job.
    pub fn job_ended(&self, kind: &'static str, outcome: JobOutcome) {
        self.job_runs.get_or_create(&[("kind", kind), ("outcome", outcome.into())]).inc();
    }

    /// Records the duration of embedding a query or a batch of texts.
    pub fn embedded(&self, took: Duration) {
        self.embedding.observe(took.as_secs_f64());
    }

    /// Sets whether the store works.
    pub fn set_store_up(&self, up: bool) {
        self.store_up.set(up.into());
    }

    /// Counts a query that is searched without the vector of this model of the ensemble.
    pub fn model_missing(&self, model: &str) {
        self.models_missing.get_or_create(&[("model", model.to_owned())]).inc();
    }

    /// Sets whether the embedder works.
    pub fn set_embedder_up(&self, up: bool) {
        self.embedder_up.set(up.into());
    }

    /// Sets the identity mode in use, by its name in the configuration.
    pub fn set_identity_mode(&self, mode: &'static str) {
        self.identity_mode.clear();
        self.identity_mode.get_or_create(&[("mode", mode)]).set(1);
    }

    /// Counts a reload of the configuration.
    pub fn reloaded(&self, applied: bool) {
        let outcome = if applied { "applied" } else { "refused" };
        self.reloads.get_or_create(&[("outcome", outcome)]).inc();
    }
}

/// Counts an exchange as in flight until it is dropped.
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

struct Registration(Registry);

impl Registration {
    fn add<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_documented() {
        let told = include_str!("../../../docs/metrics.md");
        for line in Metrics::new().encode().lines() {
            let name = line.strip_prefix("# HELP ").and_then(|rest| rest.split(' ').next());
            assert!(name.is_none_or(|name| told.contains(name)), "docs/metrics.md lacks {name:?}");
        }
    }

    #[test]
    fn metrics_are_shown_under_their_names() {
        let metrics = Metrics::new();
        metrics.decided("skipped:fact");
        metrics.decided("skipped:fact");
        metrics.failed("store");
        metrics.phase(Phase::Total, Duration::from_millis(3));
        metrics.presented(2);
        metrics.technique(Technique::Parts, Duration::from_millis(1), 2);
        metrics.ranked(RankStep::Priors, Duration::from_micros(3), 7);
        metrics.left_out(RankRule::Distinct, 2);
        metrics.journaled(3);
        metrics.pruned(2);
        metrics.dropped(CaptureDrop::QueueFull);
        metrics.stored("episodic");
        metrics.set_jobs(JobState::Pending, 4);
        metrics.set_dead_jobs("extract", 1);
        metrics.set_lag(Duration::from_millis(2500));
        metrics.job_ended("extract", JobOutcome::Retry);
        metrics.embedded(Duration::from_millis(1));
        metrics.model_missing("openai/m");
        metrics.set_store_up(true);
        metrics.reloaded(false);
        metrics.set_identity_mode("development");
        metrics.set_identity_mode("production");
        let exchange = metrics.exchange();
        let text = metrics.encode();
        assert!(!text.contains("mode=\"development\""), "the mode before is not shown");
        for line in [
            "memgate_decisions_total{decision=\"skipped:fact\"} 2",
            "memgate_failures_total{kind=\"store\"} 1",
            "memgate_phase_seconds_count{phase=\"total\"} 1",
            "memgate_phase_seconds_bucket{le=\"0.0025\",phase=\"total\"} 0",
            "memgate_phase_seconds_bucket{le=\"0.005\",phase=\"total\"} 1",
            "memgate_phase_seconds_count{phase=\"embed\"} 0",
            "memgate_hits_sum 2.0",
            "memgate_query_technique_seconds_count{technique=\"parts\"} 1",
            "memgate_query_technique_hits_total{technique=\"parts\"} 2",
            "memgate_ranking_seconds_bucket{le=\"0.000005\",step=\"priors\"} 1",
            "memgate_ranking_hits_total{step=\"priors\"} 7",
            "memgate_ranking_left_out_total{rule=\"distinct\"} 2",
            "memgate_exchanges_in_flight 1",
            "memgate_turns_journaled_total 3",
            "memgate_turns_pruned_total 2",
            "memgate_capture_dropped_total{reason=\"queue_full\"} 1",
            "memgate_memories_stored_total{type=\"episodic\"} 1",
            "memgate_jobs{state=\"pending\"} 4",
            "memgate_dead_jobs{kind=\"extract\"} 1",
            "memgate_jobs_lag_seconds 2",
            "memgate_job_runs_total{kind=\"extract\",outcome=\"retry\"} 1",
            "memgate_embedding_seconds_count 1",
            "memgate_embedding_models_missing_total{model=\"openai/m\"} 1",
            "memgate_store_up 1",
            "memgate_embedder_up 0",
            "memgate_config_reloads_total{outcome=\"refused\"} 1",
            "memgate_identity_mode{mode=\"production\"} 1",
            concat!("memgate_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
            "# EOF",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
        }
        drop(exchange);
        assert!(metrics.encode().contains("memgate_exchanges_in_flight 0"));
    }
}
