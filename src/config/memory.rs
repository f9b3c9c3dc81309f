//! The `memory:` section: what is remembered, where, and how it is found again.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    EmbeddingConfig, IdentityConfig, MilvusConfig, Policy, SignalsConfig, placement::Placement,
};
use crate::recall::{Budget, QueryConfig, RankingConfig, RecallSettings};

/// What is remembered, where, and how it is found again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Whether memory is used at all; a request can only narrow this.
    pub enabled: bool,
    /// Whether is learnt from conversations; a request can only narrow this.
    pub auto_store: bool,
    /// Where memories live: `sqlite` or `milvus`. Absent: `milvus` when there is a `milvus` section,
    /// else `sqlite`.
    pub store: Option<StoreKind>,
    /// The Milvus server.
    pub milvus: Option<MilvusConfig>,
    /// The SQLite store.
    pub sqlite: SqliteConfig,
    /// The durable log of turns and of the jobs they owe.
    pub journal: JournalConfig,
    /// The model that turns text into vectors, or several side by side.
    pub embedding: EmbeddingConfig,
    /// The types a memory may have: the four built-in ones and any of your own.
    #[schemars(length(min = 1), inner(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$")))]
    pub types: Vec<String>,
    /// The most memories presented for one request.
    #[schemars(range(min = 1, max = 50))]
    pub default_retrieval_limit: usize,
    /// The least calibrated relevance of a presented memory, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub default_similarity_threshold: f32,
    /// Turns between two extractions by the `memory_extraction` model.
    #[schemars(range(min = 1, max = 1000))]
    pub extraction_batch_size: usize,
    /// Hours that what a user asked to be forgotten in a message is only hidden and can be brought back; 0: it is
    /// erased at once. Deleting over REST or the command line always erases at once.
    #[schemars(range(min = 0, max = 8760))]
    pub forget_grace_hours: u32,
    /// The longest a request waits for memory, in milliseconds. Keep it below Envoy's `message_timeout`.
    #[schemars(range(min = 1, max = 60000))]
    pub deadline_ms: u64,
    /// Request bodies above this many bytes pass without memory.
    #[schemars(range(min = 1024, max = 1073741824))]
    pub max_body_bytes: usize,
    /// Replies above this many bytes are not learnt from.
    #[schemars(range(min = 1024, max = 1073741824))]
    pub max_reply_bytes: usize,
    /// Where the context stands in the request.
    pub placement: Placement,
    /// The most tokens of the context, as `o200k_base` counts them; about 40 of them are the fence. Other models'
    /// tokenizers count a little more or less.
    #[schemars(range(min = 64, max = 65536))]
    pub max_context_tokens: usize,
    /// What a question is turned into before it is searched.
    pub query: QueryConfig,
    /// What is presented in every context: how the user wants to be called and answered.
    pub standing: StandingConfig,
    /// Whether the dynamic metadata of a request tells which memories were put before the model, by id,
    /// and with which scores. No content.
    pub debug_metadata: bool,
    /// How memories are made of turns.
    pub extraction: ExtractionConfig,
    /// What becomes of what contradicts something remembered.
    pub reconcile: ReconcileConfig,
    /// What orders the memories that were found.
    pub ranking: RankingConfig,
    /// When a session ends.
    pub sessions: SessionsConfig,
    /// The bounds of learning.
    pub capture: CaptureConfig,
    /// Who is asking.
    pub identity: IdentityConfig,
    /// What earlier filters said of a request.
    pub signals: SignalsConfig,
    /// Overrides for some requests: every matching policy applies, in order, later ones win.
    pub policies: Vec<Policy>,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            auto_store: true,
            store: None,
            milvus: None,
            sqlite: SqliteConfig::default(),
            journal: JournalConfig::default(),
            embedding: EmbeddingConfig::default(),
            types: crate::memory::MemoryType::BUILT_IN.map(str::to_owned).to_vec(),
            default_retrieval_limit: 5,
            default_similarity_threshold: 0.6,
            extraction_batch_size: 10,
            forget_grace_hours: 24,
            deadline_ms: 50,
            max_body_bytes: 16 << 20,
            max_reply_bytes: 4 << 20,
            placement: Placement::System,
            max_context_tokens: 512,
            query: QueryConfig::default(),
            standing: StandingConfig::default(),
            debug_metadata: false,
            extraction: ExtractionConfig::default(),
            reconcile: ReconcileConfig::default(),
            ranking: RankingConfig::default(),
            sessions: SessionsConfig::default(),
            capture: CaptureConfig::default(),
            identity: IdentityConfig::default(),
            signals: SignalsConfig::default(),
            policies: Vec::new(),
        }
    }
}

impl MemoryConfig {
    /// How memories are searched, ordered and written.
    #[must_use]
    pub fn recall_settings(&self) -> RecallSettings<'_> {
        RecallSettings {
            query: &self.query,
            ranking: &self.ranking,
            types: &self.types,
            budget: Budget {
                context: self.max_context_tokens,
                preferences: self.standing.max_tokens,
            },
        }
    }

    /// The store that is meant: the named one, else Milvus when there is a section for it.
    #[must_use]
    pub fn store_kind(&self) -> StoreKind {
        self.store.unwrap_or(if self.milvus.is_some() {
            StoreKind::Milvus
        } else {
            StoreKind::Sqlite
        })
    }

    /// How long what a user asked to be forgotten is only hidden.
    #[must_use]
    pub fn forget_grace(&self) -> Duration {
        Duration::from_secs(u64::from(self.forget_grace_hours) * 3600)
    }

    /// The longest a request waits for memory.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// Whether a memory may have this type.
    #[must_use]
    pub fn knows_type(&self, name: &str) -> bool {
        self.types.iter().any(|known| known == name)
    }
}

/// Where memories live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// One file in `data_dir`.
    Sqlite,
    /// A Milvus server, which several memgates may share.
    Milvus,
}

/// The SQLite store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqliteConfig {
    /// `normal` survives a killed process, `full` also a power loss, at the price of a disk flush a write.
    pub synchronous: Sync,
    /// Reading connections, each with a thread of its own.
    #[schemars(range(min = 1, max = 64))]
    pub readers: usize,
    /// What recently searched users' vectors may take in memory, in MiB; 64 hold about 200 users with
    /// 100 memories each.
    #[schemars(range(min = 1, max = 65536))]
    pub cache_mib: usize,
}

impl Default for SqliteConfig {
    fn default() -> Self {
        Self { synchronous: Sync::Normal, readers: 2, cache_mib: 64 }
    }
}

/// How hard a write is pressed to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// Survives a killed process.
    #[default]
    Normal,
    /// Survives a power loss too.
    Full,
}

/// The durable log of turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JournalConfig {
    /// `normal` survives a killed process, `full` also a power loss, at the price of a disk flush a turn.
    pub sync: Sync,
    /// Days that a turn stays after its end, and in any case until all that is owed to its user is
    /// learnt and its session has ended; 0 removes it then.
    #[schemars(range(max = 36500))]
    pub retention_days: u32,
    /// Days that a job which was given up stays, to be looked at and tried again. It holds the turns
    /// it needs for as long.
    #[schemars(range(max = 36500))]
    pub dead_jobs_days: u32,
}

impl JournalConfig {
    /// How long a turn stays that was learnt.
    #[must_use]
    pub fn retention(&self) -> Duration {
        days(self.retention_days)
    }

    /// How long a job stays that was given up.
    #[must_use]
    pub fn dead_jobs(&self) -> Duration {
        days(self.dead_jobs_days)
    }
}

fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 24 * 3600)
}

impl Default for JournalConfig {
    fn default() -> Self {
        Self { sync: Sync::Normal, retention_days: 30, dead_jobs_days: 30 }
    }
}

/// What is presented in every context, whatever is asked: the user's standing wishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StandingConfig {
    /// The most tokens of how the user wants to be called and answered (memories with the tag `standing`), beside
    /// those of `max_context_tokens`; 0 presents them only where they are found like any other.
    #[schemars(range(max = 4096))]
    pub max_tokens: usize,
}

impl Default for StandingConfig {
    fn default() -> Self {
        Self { max_tokens: 64 }
    }
}

/// How memories are made of turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionConfig {
    /// The ways that are used, each at most once.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub modes: Vec<ExtractionMode>,
    /// What an extractor gave less importance is dropped; what it did not rate is kept.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_importance: f32,
    /// What an extractor is less sure of is dropped: said plainly is 0.95, implied 0.85, inferred 0.7,
    /// uncertain 0.5.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_confidence: f32,
    /// Whether a session that has ended is summed up: by the `memory_extraction` model in the mode
    /// `llm`, else by the user's most central statements.
    pub summaries: bool,
}

impl ExtractionConfig {
    /// Whether this way is used.
    #[must_use]
    pub fn uses(&self, mode: ExtractionMode) -> bool {
        self.modes.contains(&mode)
    }
}

impl Default for ExtractionConfig {
    fn default() -> Self {
        Self {
            modes: vec![ExtractionMode::Turns, ExtractionMode::Local, ExtractionMode::Llm],
            min_importance: 0.2,
            min_confidence: 0.5,
            summaries: true,
        }
    }
}

/// A way to make memories of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExtractionMode {
    /// Each turn at once, as an episodic memory.
    Turns,
    /// The statements worth keeping in each user message, found without a model server.
    Local,
    /// Facts, by the model with the role `memory_extraction`; without one nothing happens.
    Llm,
}

/// What becomes of what contradicts something remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReconcileConfig {
    /// Which of the two holds.
    pub policy: ReconcilePolicy,
}

/// Which of two memories that contradict each other holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReconcilePolicy {
    /// The one that was said later; the other is superseded.
    #[default]
    PreferNew,
    /// The one that was there; the other is stored as superseded.
    PreferOld,
    /// Both, with the status `review`; `flag_review` is the same.
    #[serde(alias = "flag_review")]
    Review,
}

/// When a session ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsConfig {
    /// A session without a turn for this long has ended.
    #[schemars(range(min = 1, max = 2592000))]
    pub idle_timeout_seconds: u64,
    /// A session without a turn for this long has ended once its user has begun another one. Sessions
    /// that go on beside each other stay open.
    #[schemars(range(min = 1, max = 2592000))]
    pub quiet_after_seconds: u64,
    /// The header that ends the session with its exchange, by the value `true` or `1`. Envoy's route
    /// must remove it from what goes upstream.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub end_header: String,
    /// A turn this far from the centre of its session, 0 to 2, begins another topic: what was said before
    /// and not yet extracted by the `memory_extraction` model is extracted then. Noticed in the mode
    /// `turns`; 0: never.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub drift_threshold: f32,
}

impl SessionsConfig {
    /// A session without a turn for this long has ended.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout_seconds)
    }

    /// How far a turn that begins another topic is from its session, where that is noticed.
    #[must_use]
    pub fn drift_threshold(&self) -> Option<f32> {
        (self.drift_threshold > 0.0).then_some(self.drift_threshold)
    }

    /// A session without a turn for this long has ended once its user has begun another one.
    #[must_use]
    pub fn quiet_after(&self) -> Duration {
        Duration::from_secs(self.quiet_after_seconds)
    }
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            idle_timeout_seconds: 1800,
            quiet_after_seconds: 60,
            end_header: "x-session-end".into(),
            drift_threshold: 0.8,
        }
    }
}

/// The bounds of learning: beyond them an exchange is not learnt from, and counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureConfig {
    /// Bytes of all exchanges that are read at one time.
    #[schemars(range(min = 1048576))]
    pub max_in_flight_bytes: usize,
    /// Finished exchanges that wait for the journal.
    #[schemars(range(min = 1, max = 1000000))]
    pub queue: usize,
    /// Jobs that run at one time.
    #[schemars(range(min = 1, max = 64))]
    pub workers: usize,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        Self { max_in_flight_bytes: 256 << 20, queue: 1024, workers: 2 }
    }
}
