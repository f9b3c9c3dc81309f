//! The figures at `/metrics`, in the OpenMetrics text format. One [`Metrics`] is made at start and
//! handed down. Adding one: a field, a line in [`Metrics::new`], a small method.

use std::{sync::Arc, time::Duration};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::{Metric, Registry},
};

use super::{RankRule, RankStep};

/// The content type of [`Metrics::encode`].
pub const METRICS_CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Seconds from a tenth of a millisecond to five seconds: memory's deadline lies in the middle.
const SECONDS: [f64; 15] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
];
/// Seconds from a microsecond to five milliseconds: what ranking takes.
const RANKING_SECONDS: [f64; 11] =
    [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3];
/// Memories a request was given; the limit is 50.
const HITS: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0];

type Label = [(&'static str, &'static str); 1];
type TwoLabels = [(&'static str, &'static str); 2];
type OwnLabel = [(&'static str, String); 1];

/// Everything that is counted and timed.
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

/// A part of the way of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading the body.
    Read,
    /// Deciding whether memory can help.
    Decide,
    /// Building the query.
    Query,
    /// Embedding the query.
    Embed,
    /// Searching the store.
    Search,
    /// Ranking, and building and placing the context.
    Context,
    /// All that the request waited for.
    Total,
}

impl Phase {
    const ALL: [Self; 7] = [
        Self::Read,
        Self::Decide,
        Self::Query,
        Self::Embed,
        Self::Search,
        Self::Context,
        Self::Total,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Query => "query",
            Self::Embed => "embed",
            Self::Search => "search",
            Self::Context => "context",
            Self::Total => "total",
        }
    }
}

/// What a question is turned into, beside its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Technique {
    /// Words of earlier messages, for a vague question.
    KeyTerms,
    /// Times that it names.
    Times,
    /// The type of memory that it asks for.
    Types,
    /// The parts of one that asks for several things.
    Parts,
    /// A statement in place of a question.
    Statements,
    /// A model's rewriting of a vague one.
    Rewrite,
    /// A model's guess at an answer.
    Hyde,
    /// What a model reads out of it of the memories that are asked for.
    SelfQuery,
}

impl Technique {
    fn name(self) -> &'static str {
        match self {
            Self::KeyTerms => "key_terms",
            Self::Times => "times",
            Self::Types => "types",
            Self::Parts => "parts",
            Self::Statements => "statements",
            Self::Rewrite => "rewrite",
            Self::Hyde => "hyde",
            Self::SelfQuery => "self_query",
        }
    }
}

/// Why an exchange was not learnt from, although nobody had opted out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureDrop {
    /// All exchanges together were over `memory.capture.max_in_flight_bytes`.
    OverBudget,
    /// The queue to the journal was full.
    QueueFull,
    /// The request or the reply was too large.
    TooLarge,
    /// The body could not be read.
    Unreadable,
    /// The reply did not end well: an error status, or cut off.
    Incomplete,
    /// The journal refused the turn.
    Journal,
    /// The screening took everything away.
    Screened,
}

impl CaptureDrop {
    fn name(self) -> &'static str {
        match self {
            Self::OverBudget => "over_budget",
            Self::QueueFull => "queue_full",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
            Self::Incomplete => "incomplete",
            Self::Journal => "journal",
            Self::Screened => "screened",
        }
    }
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waits for its time or a worker.
    Pending,
    /// A worker has it.
    Running,
    /// Given up after its last try.
    Dead,
}

impl JobState {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Dead => "dead",
        }
    }
}

/// How a run of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    /// Well.
    Done,
    /// Badly; it will be tried again.
    Retry,
    /// Not at all, since what it works with was away; it will be run again.
    Postponed,
    /// Badly, and for the last time.
    Dead,
}

impl JobOutcome {
    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Retry => "retry",
            Self::Postponed => "postponed",
            Self::Dead => "dead",
        }
    }
}

/// What became of something found, or of what it met in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconciled {
    /// A new memory.
    Created,
    /// A new version of one.
    Updated,
    /// Said again: one is surer.
    Reinforced,
    /// One holds no longer.
    Superseded,
    /// A remembered turn leaves out what holds no longer.
    Outdated,
    /// Two contradict each other, and somebody should look.
    Review,
}

impl Reconciled {
    fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Reinforced => "reinforced",
            Self::Superseded => "superseded",
            Self::Outdated => "outdated",
            Self::Review => "review",
        }
    }
}

impl Metrics {
    /// All figures at zero.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let mut at = Registration(Registry::with_prefix("memgate"));
        at.0.register(
            "build",
            "The version that runs",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        let seconds: fn() -> Histogram = || Histogram::new(SECONDS);
        let this = Self {
            decisions: at.add("decisions", "Exchanges by decision", Family::default()),
            deciders: at.add(
                "deciders",
                "Decisions whether to search, by who decided",
                Family::default(),
            ),
            failures: at.add("failures", "Failed memory steps by kind", Family::default()),
            phases: at.add(
                "phase_seconds",
                "Time a request waited for a phase",
                Family::new_with_constructor(seconds),
            ),
            hits: at.add("hits", "Memories presented to a searched request", Histogram::new(HITS)),
            techniques: at.add(
                "query_technique_seconds",
                "Time to make something of a question, by technique, where it made something",
                Family::new_with_constructor(seconds),
            ),
            technique_hits: at.add(
                "query_technique_hits",
                "Memories presented that a technique brought or lifted, by technique",
                Family::default(),
            ),
            ranking: at.add(
                "ranking_seconds",
                "Time a step of ranking took",
                Family::new_with_constructor(|| Histogram::new(RANKING_SECONDS)),
            ),
            ranking_hits: at.add(
                "ranking_hits",
                "Memories that a step of ranking placed, found or let pass, by step",
                Family::default(),
            ),
            ranking_left_out: at.add(
                "ranking_left_out",
                "Relevant memories that are not presented, by the rule that left them out",
                Family::default(),
            ),
            in_flight: at.add("exchanges_in_flight", "Exchanges at this moment", Gauge::default()),
            turns_journaled: at.add(
                "turns_journaled",
                "Turns that are durable in the journal",
                Counter::default(),
            ),
            turns_pruned: at.add(
                "turns_pruned",
                "Turns removed from the journal since they were learnt and are old",
                Counter::default(),
            ),
            capture_dropped: at.add(
                "capture_dropped",
                "Exchanges not learnt from by reason",
                Family::default(),
            ),
            screened: at.add(
                "screened",
                "Secrets taken out of texts before they were kept, by kind",
                Family::default(),
            ),
            refused: at.add(
                "refused",
                "Sentences of messages and replies that are not kept, by reason",
                Family::default(),
            ),
            candidates_dropped: at.add(
                "candidates_dropped",
                "What extraction found and nobody keeps, by reason",
                Family::default(),
            ),
            reconciled: at.add(
                "reconciled",
                "What became of what was found, and of what it met in the store, by outcome",
                Family::default(),
            ),
            memories_stored: at.add(
                "memories_stored",
                "Memories created or updated by type",
                Family::default(),
            ),
            commands: at.add(
                "commands",
                "Requests to remember or to forget that were announced, by command",
                Family::default(),
            ),
            commands_done: at.add(
                "commands_memories",
                "Statements remembered and memories deleted because a user asked, by command",
                Family::default(),
            ),
            jobs: at.add("jobs", "Jobs in the journal by state", Family::default()),
            dead_jobs: at.add(
                "dead_jobs",
                "Jobs given up after their last try by kind",
                Family::default(),
            ),
            lag: at.add(
                "jobs_lag_seconds",
                "How long the first of the jobs that are due has been due",
                Gauge::default(),
            ),
            job_runs: at.add("job_runs", "Runs of jobs by kind and outcome", Family::default()),
            embedding: at.add(
                "embedding_seconds",
                "Time until an embedding model answered, with its queue; cached texts are not counted",
                seconds(),
            ),
            models_missing: at.add(
                "embedding_models_missing",
                "Questions that a model gave no vector for when others did, by model",
                Family::default(),
            ),
            store_up: at.add("store_up", "1 when the store works", Gauge::default()),
            embedder_up: at.add("embedder_up", "1 when the embedder works", Gauge::default()),
            reloads: at.add("config_reloads", "Reloads of the configuration", Family::default()),
            identity_mode: at.add(
                "identity_mode",
                "1 for the identity mode in use: production, or development, which believes clients",
                Family::default(),
            ),
            registry: at.0,
        };
        for phase in Phase::ALL {
            // A histogram with no observation is shown, so that dashboards find it.
            drop(this.phases.get_or_create(&[("phase", phase.name())]));
        }
        Arc::new(this)
    }

    /// The text of `/metrics`.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// A decision was made for an exchange, under its name in `x-memgate-decision`.
    pub fn decided(&self, decision: &'static str) {
        self.decisions.get_or_create(&[("decision", decision)]).inc();
    }

    /// Whether to search was decided by one of `earlier`, `rule`, `words`, `model`.
    pub fn decided_by(&self, by: &'static str) {
        self.deciders.get_or_create(&[("by", by)]).inc();
    }

    /// A memory step failed: `embedding`, `store`, `deadline`, `identity`, …
    pub fn failed(&self, kind: &'static str) {
        self.failures.get_or_create(&[("kind", kind)]).inc();
    }

    /// A request waited so long for a phase.
    pub fn phase(&self, phase: Phase, took: Duration) {
        self.phases.get_or_create(&[("phase", phase.name())]).observe(took.as_secs_f64());
    }

    /// A searched request was given so many memories.
    pub fn presented(&self, hits: usize) {
        #[expect(clippy::cast_precision_loss, reason = "at most 50")]
        self.hits.observe(hits as f64);
    }

    /// A technique made something of a question, which took so long and brought or lifted so many of the memories
    /// presented.
    pub fn technique(&self, technique: Technique, took: Duration, hits: usize) {
        let label = [("technique", technique.name())];
        self.techniques.get_or_create(&label).observe(took.as_secs_f64());
        self.technique_hits.get_or_create(&label).inc_by(hits as u64);
    }

    /// A step of ranking took so long and concerned so many memories.
    pub fn ranked(&self, step: RankStep, took: Duration, hits: usize) {
        let label = [("step", step.name())];
        self.ranking.get_or_create(&label).observe(took.as_secs_f64());
        self.ranking_hits.get_or_create(&label).inc_by(hits as u64);
    }

    /// So many memories were relevant enough, and a rule of ranking left them out.
    pub fn left_out(&self, rule: RankRule, hits: usize) {
        self.ranking_left_out.get_or_create(&[("rule", rule.name())]).inc_by(hits as u64);
    }

    /// An exchange began; it ends when the guard is dropped.
    #[must_use]
    pub fn exchange(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// So many turns are durable now.
    pub fn journaled(&self, turns: u64) {
        self.turns_journaled.inc_by(turns);
    }

    /// So many turns were removed from the journal, being learnt and old.
    pub fn pruned(&self, turns: u64) {
        self.turns_pruned.inc_by(turns);
    }

    /// An exchange is not learnt from.
    pub fn dropped(&self, reason: CaptureDrop) {
        self.capture_dropped.get_or_create(&[("reason", reason.name())]).inc();
    }

    /// So many secrets of a kind were taken out of a text.
    pub fn screened(&self, kind: &'static str, count: u64) {
        self.screened.get_or_create(&[("kind", kind)]).inc_by(count);
    }

    /// A sentence is not kept: `secret`, `injection` or `no_store`.
    pub fn refused(&self, why: &'static str) {
        self.refused.get_or_create(&[("reason", why)]).inc();
    }

    /// So many finds of an extraction are not kept.
    pub fn candidates_dropped(&self, reason: &'static str, count: u64) {
        self.candidates_dropped.get_or_create(&[("reason", reason)]).inc_by(count);
    }

    /// What was found met what is stored.
    pub fn reconciled(&self, outcome: Reconciled) {
        self.reconciled.get_or_create(&[("outcome", outcome.name())]).inc();
    }

    /// A memory was created or updated. Types are a small set: the configured ones.
    pub fn stored(&self, memory_type: &str) {
        self.memories_stored.get_or_create(&[("type", memory_type.to_owned())]).inc();
    }

    /// A request of a user to memory itself was announced.
    pub fn commanded(&self, command: &'static str) {
        self.commands.get_or_create(&[("command", command)]).inc();
    }

    /// So many statements were remembered, or memories deleted, because a user asked.
    pub fn command_done(&self, command: &'static str, memories: u64) {
        self.commands_done.get_or_create(&[("command", command)]).inc_by(memories);
    }

    /// So many jobs are in this state.
    pub fn set_jobs(&self, state: JobState, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.jobs.get_or_create(&[("state", state.name())]).set(count);
    }

    /// So many jobs of a kind are dead.
    pub fn set_dead_jobs(&self, kind: &'static str, count: u64) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.dead_jobs.get_or_create(&[("kind", kind)]).set(count);
    }

    /// The first of the jobs that are due has been so for that long.
    pub fn set_lag(&self, late: Duration) {
        self.lag.set(i64::try_from(late.as_secs()).unwrap_or(i64::MAX));
    }

    /// A run of a job ended.
    pub fn job_ended(&self, kind: &'static str, outcome: JobOutcome) {
        self.job_runs.get_or_create(&[("kind", kind), ("outcome", outcome.name())]).inc();
    }

    /// A model embedded a question or a batch of texts.
    pub fn embedded(&self, took: Duration) {
        self.embedding.observe(took.as_secs_f64());
    }

    /// Whether the store works.
    pub fn set_store_up(&self, up: bool) {
        self.store_up.set(up.into());
    }

    /// A question is searched without the vector of this one of several models.
    pub fn model_missing(&self, model: &str) {
        self.models_missing.get_or_create(&[("model", model.to_owned())]).inc();
    }

    /// Whether the embedder works.
    pub fn set_embedder_up(&self, up: bool) {
        self.embedder_up.set(up.into());
    }

    /// The identity mode in use, by its name in the configuration.
    pub fn set_identity_mode(&self, mode: &'static str) {
        self.identity_mode.clear();
        self.identity_mode.get_or_create(&[("mode", mode)]).set(1);
    }

    /// The configuration was read again, and taken or not.
    pub fn reloaded(&self, taken: bool) {
        let outcome = if taken { "taken" } else { "refused" };
        self.reloads.get_or_create(&[("outcome", outcome)]).inc();
    }
}

/// An exchange at this moment.
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
    fn every_figure_is_told_of() {
        let told = include_str!("../../docs/metrics.md");
        for line in Metrics::new().encode().lines() {
            let name = line.strip_prefix("# HELP ").and_then(|rest| rest.split(' ').next());
            assert!(name.is_none_or(|name| told.contains(name)), "docs/metrics.md lacks {name:?}");
        }
    }

    #[test]
    fn figures_are_shown_under_their_names() {
        let metrics = Metrics::new();
        metrics.decided("skipped:fact");
        metrics.decided("skipped:fact");
        metrics.failed("store");
        metrics.phase(Phase::Total, Duration::from_millis(3));
        metrics.presented(2);
        metrics.technique(Technique::Parts, Duration::from_millis(1), 2);
        metrics.ranked(RankStep::Neighbours, Duration::from_micros(3), 7);
        metrics.left_out(RankRule::Gap, 2);
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
            "memgate_ranking_seconds_bucket{le=\"0.000005\",step=\"neighbours\"} 1",
            "memgate_ranking_hits_total{step=\"neighbours\"} 7",
            "memgate_ranking_left_out_total{rule=\"gap\"} 2",
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
