//! The metrics served at `/metrics`, in the OpenMetrics text format. One [`Metrics`] is created at start-up and passed to
//! all parts. A new metric is a line of the table. Names of labels come from enums of the parts that count.

use std::{sync::Arc, time::Duration};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::Registry,
};

use crate::table::{Label, Labels, Record, metrics};

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

metrics! {
    labelled {
        /// Counts the decision of an exchange, by its value in `x-memgate-decision`.
        pub decided(decision = "decision") = Counter
            "decisions": "Number of exchanges by decision";
        /// Counts a decision whether to search by its source: `earlier`, `rule`, `lexical`, `model`.
        pub decided_by(source = "source") = Counter
            "deciders": "Number of decisions whether to search, by the source of the decision";
        /// Counts a failed memory step: `embedding`, `store`, `deadline`, `identity`, …
        pub failed(kind = "kind") = Counter
            "failures": "Number of failed memory steps by kind";
        /// Counts a caught panic.
        pub(crate) panicked(part = "part") = Counter
            "panics": "Number of caught panics by the part of memgate that caught them";
        /// Records the duration of a phase of a request.
        pub phase(phase = "phase"; took: Duration) = Histogram(SECONDS)
            "phase_seconds": "Duration of the phases of a request, in seconds";
        /// Counts a memory that was found and is presented, by whose it is for the user.
        pub presented_of(scope = "scope") = Counter
            "scope_hits": "Number of presented memories that were found, by scope";
        /// Records the duration of a technique that contributed to a query.
        technique_took(technique = "technique"; took: Duration) = Histogram(SECONDS)
            "query_technique_seconds": "Duration of query techniques that contributed to a query, in seconds";
        /// Counts presented memories that a technique found or boosted.
        technique_hits(technique = "technique"; hits: u64) = Counter
            "query_technique_hits": "Number of presented memories that a query technique found or boosted";
        /// Records the duration of a step of ranking.
        rank_took(step = "step"; took: Duration) = Histogram(RANKING_SECONDS)
            "ranking_seconds": "Duration of the steps of ranking, in seconds";
        /// Counts the memories that a step of ranking affected.
        rank_hits(step = "step"; hits: u64) = Counter
            "ranking_hits": "Number of memories affected by a step of ranking";
        /// Counts memories above the threshold that a rule of ranking left out.
        pub left_out(rule = "rule"; hits: u64) = Counter
            "ranking_left_out": "Number of relevant memories left out of the context by a rule of ranking";
        /// Counts an exchange that is not learned from, although nothing opted out of learning.
        pub dropped(reason = "reason") = Counter
            "capture_dropped": "Number of exchanges not learned from by reason";
        /// Counts secrets of one kind that were removed from a text.
        pub screened(kind = "kind"; count: u64) = Counter
            "screened": "Number of secrets removed from texts by kind";
        /// Counts a refused sentence: `secret`, `injection` or `no_store`.
        pub refused(why = "reason") = Counter
            "refused": "Number of sentences of messages and replies refused by reason";
        /// Counts extraction candidates that were dropped.
        pub candidates_dropped(reason = "reason"; count: u64) = Counter
            "candidates_dropped": "Number of extraction candidates dropped by reason";
        /// Counts a reconciliation outcome.
        pub reconciled(outcome = "outcome") = Counter
            "reconciled": "Number of reconciliation outcomes";
        /// Counts a memory that was created or updated.
        memory_stored(memory_type = "type") = Counter
            "memories_stored": "Number of memories created or updated by type";
        /// Counts an accepted memory command of a user.
        pub commanded(command = "command") = Counter
            "commands": "Number of accepted remember and forget commands";
        /// Counts statements remembered or memories deleted by a command.
        pub command_done(command = "command"; memories: u64) = Counter
            "commands_memories": "Number of memories stored or deleted by remember and forget commands";
        /// Sets the number of jobs in this state: `pending`, `running` or `dead`.
        pub set_jobs(state = "state"; count: u64) = Gauge
            "jobs": "Number of jobs in the journal by state";
        /// Sets the number of dead jobs of this kind.
        pub set_dead_jobs(kind = "kind"; count: u64) = Gauge
            "dead_jobs": "Number of dead jobs by kind";
        /// Counts a run of a job.
        pub job_ended(kind = "kind", outcome = "outcome") = Counter
            "job_runs": "Number of job runs by kind and outcome";
        /// Counts a query that is searched without the vector of a model of the ensemble.
        vector_missing(model = "model") = Counter
            "embedding_models_missing": "Number of queries searched without the vector of one of several embedding models";
        /// Counts a reload of the configuration.
        config_reloaded(outcome = "outcome") = Counter
            "config_reloads": "Number of configuration reloads by outcome";
        /// Sets whether this identity mode is in use.
        identity_mode(mode = "mode"; used: bool) = Gauge
            "identity_mode": "1 for the identity mode in use";
    }
    plain {
        /// Records the number of memories presented to a searched request.
        pub presented(hits: usize) = Histogram(HITS)
            "hits": "Number of memories presented per searched request";
        /// Counts presented memories of another project than the request's.
        pub presented_across_projects(hits: u64) = Counter
            "cross_project_hits": "Number of presented memories of another project than the request's";
        /// Changes the number of exchanges in flight.
        in_flight(change: i64) = Gauge
            "exchanges_in_flight": "Number of exchanges in flight";
        /// Counts turns that are durable now.
        pub journaled(turns: u64) = Counter
            "turns_journaled": "Number of turns durably written to the journal";
        /// Counts turns removed from the journal because they are learned and past their retention.
        pub pruned(turns: u64) = Counter
            "turns_pruned": "Number of turns removed from the journal after their retention";
        /// Sets the age of the oldest due job.
        pub set_lag(late: Duration) = Gauge
            "jobs_lag_seconds": "Age of the oldest due job, in seconds";
        /// Records the duration of embedding a query or a batch of texts.
        pub embedded(took: Duration) = Histogram(SECONDS)
            "embedding_seconds": "Duration of embedding calls including queueing, without cached texts, in seconds";
        /// Counts a stored row that was passed over because one of its values cannot be read.
        pub unreadable(rows: u64) = Counter
            "store_unreadable_rows": "Number of stored rows passed over because a value in them cannot be read";
        /// Sets whether the store works.
        pub set_store_up(up: bool) = Gauge
            "store_up": "1 if the store works, else 0";
        /// Sets whether the embedder works.
        pub set_embedder_up(up: bool) = Gauge
            "embedder_up": "1 if the embedder works, else 0";
    }
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

impl Metrics {
    /// All metrics at zero.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("memgate");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of memgate; the value is always 1", version);
        let metrics = Self::registered(registry);
        for &phase in <Phase as strum::VariantArray>::VARIANTS {
            // Histograms without observations are shown too, so that dashboards find them.
            drop(metrics.phase.get_or_create(&[("phase", Label::from(phase).0)]));
        }
        Arc::new(metrics)
    }

    /// The text served at `/metrics`.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Records a technique that contributed to a query: its duration and the number of presented memories that it found
    /// or boosted.
    pub fn technique(&self, technique: &'static str, took: Duration, hits: usize) {
        self.technique_took(technique, took);
        self.technique_hits(technique, hits as u64);
    }

    /// Records a step of ranking: its duration and the number of memories that it affected.
    pub fn ranked(&self, step: &'static str, took: Duration, hits: usize) {
        self.rank_took(step, took);
        self.rank_hits(step, hits as u64);
    }

    /// Counts a memory that was created or updated. The number of types is small: the configured ones.
    pub fn stored(&self, memory_type: &str) {
        self.memory_stored(Label::configured(memory_type));
    }

    /// Counts a query that is searched without the vector of this model of the ensemble.
    pub fn model_missing(&self, model: &str) {
        self.vector_missing(Label::configured(model));
    }

    /// Sets the identity mode in use, by its name in the configuration.
    pub fn set_identity_mode(&self, mode: &'static str) {
        self.identity_mode.clear();
        self.identity_mode(mode, true);
    }

    /// Counts a reload of the configuration.
    pub fn reloaded(&self, applied: bool) {
        self.config_reloaded(if applied { "applied" } else { "refused" });
    }

    /// Counts an exchange in flight until the guard is dropped.
    #[must_use]
    pub fn exchange(&self) -> InFlight {
        self.in_flight(1);
        InFlight(self.in_flight.clone())
    }
}

/// Counts an exchange as in flight until it is dropped.
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
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
        metrics.technique("decompose", Duration::from_millis(1), 2);
        metrics.ranked("priors", Duration::from_micros(3), 7);
        metrics.left_out("deduplicate", 2);
        metrics.journaled(3);
        metrics.pruned(2);
        metrics.dropped("queue_full");
        metrics.stored("episodic");
        metrics.set_jobs("pending", 4);
        metrics.set_dead_jobs("extract", 1);
        metrics.set_lag(Duration::from_millis(2500));
        metrics.job_ended("extract", "retry");
        metrics.embedded(Duration::from_millis(1));
        metrics.model_missing("openai/m");
        metrics.unreadable(1);
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
            "memgate_query_technique_seconds_count{technique=\"decompose\"} 1",
            "memgate_query_technique_hits_total{technique=\"decompose\"} 2",
            "memgate_ranking_seconds_bucket{le=\"0.000005\",step=\"priors\"} 1",
            "memgate_ranking_hits_total{step=\"priors\"} 7",
            "memgate_ranking_left_out_total{rule=\"deduplicate\"} 2",
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
            "memgate_store_unreadable_rows_total 1",
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
