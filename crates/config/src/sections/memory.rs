//! The `memory:` section: what is remembered, where it is stored, and how it is recalled.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sections::{
    embedding::EmbeddingConfig,
    identity::{AnonymousSessionsConfig, IdentityConfig, SignalsConfig},
    milvus::MilvusConfig,
    placement::Placement,
    policy::Policy,
    postgres::PostgresConfig,
    trail::TrailConfig,
};
use crate::zone::Zone;
use memgate_recall::{Budget, QueryConfig, RankingConfig, RecallSettings, ScopesConfig};
use memgate_screening as screening;

/// Memory: its contents, its store, and how it is recalled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Whether memory is used at all. A request can only disable it.
    pub enabled: bool,
    /// Whether turns are stored and learned from. A request can only disable it.
    pub auto_store: bool,
    /// The memory store: `sqlite`, `milvus` or `postgres`. Default: the server that has a section,
    /// `milvus` or `postgres`, else `sqlite`.
    pub store: Option<StoreKind>,
    /// The Milvus server.
    pub milvus: Option<MilvusConfig>,
    /// The PostgreSQL server, with the extension pgvector.
    pub postgres: Option<PostgresConfig>,
    /// The SQLite store.
    pub sqlite: SqliteConfig,
    /// The durable log of turns and of their pending jobs.
    pub journal: JournalConfig,
    /// The model that turns text into vectors, or an ensemble of several.
    pub embedding: EmbeddingConfig,
    /// The allowed memory types: the four built-in ones and any of your own. A long answer of the assistant has the type
    /// `answer`, which needs no entry.
    #[schemars(length(min = 1), inner(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$")))]
    pub types: Vec<String>,
    /// Maximum number of memories presented per request.
    #[schemars(range(min = 1, max = 50))]
    pub default_retrieval_limit: usize,
    /// Minimum calibrated relevance of a presented memory, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub default_similarity_threshold: f32,
    /// Number of turns between two extractions by the `memory_extraction` model.
    #[schemars(range(min = 1, max = 1000))]
    pub extraction_batch_size: usize,
    /// Hours for which memories that a user asked to forget in a message are hidden and can be
    /// restored; after that they are erased. 0 erases them at once. Deleting over REST or the
    /// command line always erases at once.
    #[schemars(range(min = 0, max = 8760))]
    pub forget_grace_hours: u32,
    /// Maximum time that a request waits for memory, in milliseconds. Keep it below Envoy's
    /// `message_timeout`.
    #[schemars(range(min = 1, max = 60000))]
    pub deadline_ms: u64,
    /// Maximum size of a request body, in bytes. Larger requests pass without memory.
    #[schemars(range(min = 1024, max = 1073741824))]
    pub max_body_bytes: usize,
    /// Maximum size of a reply, in bytes. Larger replies are not learned from.
    #[schemars(range(min = 1024, max = 1073741824))]
    pub max_reply_bytes: usize,
    /// Where the context is placed in the request.
    pub placement: Placement,
    /// Maximum size of the context, in tokens of `o200k_base`; the fence takes 34 of them, with preferences 51.
    /// Other tokenizers count slightly differently.
    #[schemars(range(min = 64, max = 65536))]
    pub max_context_tokens: usize,
    /// The time zone of users who name none, by its IANA name: in it days are counted ("tomorrow") and shown.
    pub timezone: Zone,
    /// How a query is prepared before the search.
    pub query: QueryConfig,
    /// What stands in every context: preferences, which say how the user wants to be addressed and answered, and wishes about
    /// every answer.
    #[serde(alias = "preferences")]
    pub standing: StandingConfig,
    /// Whether Envoy's dynamic metadata lists the ids and scores of the presented memories. It
    /// never contains content.
    pub debug_metadata: bool,
    /// The trail: what was decided, found, cut and presented for each of the latest requests, and what was learned from each
    /// of the latest turns.
    pub trail: TrailConfig,
    /// Secrets and personal data: `keep`, `redact` or `drop` by class. Private keys, access tokens
    /// and passwords are always redacted.
    pub screening: screening::Policy,
    /// Whether a request that names no project searches the memories of all projects. By default it
    /// searches those of no project. A reload can only switch it off.
    pub search_all_projects: bool,
    /// How memories are extracted from turns.
    pub extraction: ExtractionConfig,
    /// How contradictions between memories are resolved.
    pub reconcile: ReconcileConfig,
    /// How the found memories are ordered.
    pub ranking: RankingConfig,
    /// The memories that a request is given besides the user's own.
    pub scopes: ScopesConfig,
    /// When a session ends.
    pub sessions: SessionsConfig,
    /// Limits of learning.
    pub capture: CaptureConfig,
    /// How users are identified.
    pub identity: IdentityConfig,
    /// The memory of sessions without a user.
    pub anonymous_sessions: AnonymousSessionsConfig,
    /// Signals of earlier filters about a request.
    pub signals: SignalsConfig,
    /// Overrides for some requests. Every matching policy applies, in order; later ones win.
    pub policies: Vec<Policy>,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            auto_store: true,
            store: None,
            milvus: None,
            postgres: None,
            sqlite: SqliteConfig::default(),
            journal: JournalConfig::default(),
            embedding: EmbeddingConfig::default(),
            types: memgate_core::memory::MemoryType::BUILT_IN.map(str::to_owned).to_vec(),
            default_retrieval_limit: 5,
            default_similarity_threshold: 0.6,
            extraction_batch_size: 10,
            forget_grace_hours: 24,
            deadline_ms: 50,
            max_body_bytes: 16 << 20,
            max_reply_bytes: 4 << 20,
            placement: Placement::System,
            max_context_tokens: 512,
            timezone: Zone::default(),
            query: QueryConfig::default(),
            standing: StandingConfig::default(),
            debug_metadata: false,
            trail: TrailConfig::default(),
            screening: screening::Policy::default(),
            search_all_projects: false,
            extraction: ExtractionConfig::default(),
            reconcile: ReconcileConfig::default(),
            ranking: RankingConfig::default(),
            scopes: ScopesConfig::default(),
            sessions: SessionsConfig::default(),
            capture: CaptureConfig::default(),
            identity: IdentityConfig::default(),
            anonymous_sessions: AnonymousSessionsConfig::default(),
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
            scopes: &self.scopes,
            types: &self.types,
            budget: Budget { context: self.max_context_tokens, standing: self.standing.max_tokens },
        }
    }

    /// The store to use: the configured one, else the server that has a section.
    #[must_use]
    pub fn store_kind(&self) -> StoreKind {
        self.store.unwrap_or(match (&self.milvus, &self.postgres) {
            (Some(_), _) => StoreKind::Milvus,
            (None, Some(_)) => StoreKind::Postgres,
            (None, None) => StoreKind::Sqlite,
        })
    }

    /// How long memories that a user asked to forget stay restorable.
    #[must_use]
    pub fn forget_grace(&self) -> Duration {
        Duration::from_secs(u64::from(self.forget_grace_hours) * 3600)
    }

    /// Maximum time that a request waits for memory.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }

    /// Whether this memory type is allowed.
    #[must_use]
    pub fn knows_type(&self, name: &str) -> bool {
        name == memgate_core::memory::MemoryType::ANSWER
            || self.types.iter().any(|known| known == name)
    }
}

/// The memory store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// One file in `data_dir`.
    Sqlite,
    /// A Milvus server; several memgates can share it.
    Milvus,
    /// A PostgreSQL server with pgvector; several memgates can share it.
    Postgres,
}

impl StoreKind {
    /// The name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Milvus => "milvus",
            Self::Postgres => "postgres",
        }
    }
}

/// The SQLite store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqliteConfig {
    /// Durability of writes. `normal` survives a killed process; `full` also survives a power loss,
    /// at the cost of a disk flush per write.
    pub synchronous: Sync,
    /// Number of reading connections; each has its own thread.
    #[schemars(range(min = 1, max = 64))]
    pub readers: usize,
    /// Maximum memory for the vectors of recently searched users, in MiB. 64 MiB hold about 200
    /// users with 100 memories each.
    #[schemars(range(min = 1, max = 65536))]
    pub cache_mib: usize,
}

impl Default for SqliteConfig {
    fn default() -> Self {
        Self { synchronous: Sync::Normal, readers: 2, cache_mib: 64 }
    }
}

/// Durability of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sync {
    /// Survives a killed process.
    #[default]
    Normal,
    /// Also survives a power loss.
    Full,
}

/// The durable log of turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JournalConfig {
    /// Durability of turns. `normal` survives a killed process; `full` also survives a power loss,
    /// at the cost of a disk flush per turn.
    pub sync: Sync,
    /// Days for which a turn is kept after its end. It is kept longer while its session is open or
    /// its user has pending jobs. 0 removes it as soon as neither is the case.
    #[schemars(range(max = 36500))]
    pub retention_days: u32,
    /// Days for which a dead job is kept, so that it can be inspected and retried. The turns it
    /// needs are kept as long.
    #[schemars(range(max = 36500))]
    pub dead_jobs_days: u32,
    /// Whether the journal keeps what tools were given and what they answered, screened. Otherwise it keeps only their
    /// names, outcomes and times. A reload can only switch it off.
    pub tool_contents: bool,
}

impl JournalConfig {
    /// How long a learned turn is kept.
    #[must_use]
    pub fn retention(&self) -> Duration {
        days(self.retention_days)
    }

    /// How long a dead job is kept.
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
        Self { sync: Sync::Normal, retention_days: 30, dead_jobs_days: 30, tool_contents: false }
    }
}

/// Preferences and wishes about every answer, which are part of every context whatever the query is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StandingConfig {
    /// Maximum size of them in a context (`/v1/preferences`), in tokens, in addition to `max_context_tokens`. 0: they are
    /// presented only when the search finds them.
    #[schemars(range(max = 4096))]
    pub max_tokens: usize,
}

impl Default for StandingConfig {
    fn default() -> Self {
        Self { max_tokens: 96 }
    }
}

/// How memories are extracted from turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExtractionConfig {
    /// The extraction modes to use, each at most once.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub modes: Vec<ExtractionMode>,
    /// Minimum importance of a candidate. Candidates without a rating are kept.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_importance: f32,
    /// Minimum confidence of a candidate: explicit statements have 0.95, implied ones 0.85,
    /// inferred ones 0.7, uncertain ones 0.5.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_confidence: f32,
    /// Whether a summary is stored when a session ends: by the `memory_extraction` model in mode
    /// `llm`, else made of the user's most central statements.
    pub summaries: bool,
}

impl ExtractionConfig {
    /// Whether this mode is used.
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

/// How memories are extracted from turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExtractionMode {
    /// Each turn, at once, as an episodic memory.
    Turns,
    /// Statements worth keeping in each user message, found without a model server.
    Local,
    /// Facts, extracted by the model with the role `memory_extraction`. Does nothing without such a
    /// model.
    Llm,
}

/// How contradictions between memories are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReconcileConfig {
    /// Which of two contradicting memories wins.
    pub policy: ReconcilePolicy,
}

/// Which of two contradicting memories wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReconcilePolicy {
    /// The newer one; the older one is superseded.
    #[default]
    PreferNew,
    /// The older one; the newer one is stored as superseded.
    PreferOld,
    /// Neither: both get the status `review`.
    Review,
}

/// When a session ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsConfig {
    /// Seconds without a turn after which a session ends.
    #[schemars(range(min = 1, max = 2592000))]
    pub idle_timeout_seconds: u64,
    /// Seconds without a turn after which a session ends once its user has started another one.
    /// Sessions used in parallel stay open.
    #[schemars(range(min = 1, max = 2592000))]
    pub quiet_after_seconds: u64,
    /// Request header that ends the session after this exchange if its value is `true` or `1`.
    /// Envoy's route must remove it before the upstream.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub end_header: String,
    /// Topic drift: a turn at this distance (0 to 2) from its session's centre starts a new topic,
    /// and the turns before it are extracted by the `memory_extraction` model at once. Requires the
    /// mode `turns`; 0 disables it.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub drift_threshold: f32,
}

impl SessionsConfig {
    /// Time without a turn after which a session ends.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout_seconds)
    }

    /// Distance from the session's centre that starts a new topic, if detection is enabled.
    #[must_use]
    pub fn drift_threshold(&self) -> Option<f32> {
        (self.drift_threshold > 0.0).then_some(self.drift_threshold)
    }

    /// Time without a turn after which a session ends once its user has started another one.
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

/// Limits of learning. Exchanges beyond them are not learned from, and are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureConfig {
    /// Maximum bytes of all exchanges that are being read.
    #[schemars(range(min = 1048576))]
    pub max_in_flight_bytes: usize,
    /// Maximum number of finished exchanges that wait for the journal.
    #[schemars(range(min = 1, max = 1000000))]
    pub queue: usize,
    /// Number of jobs that run concurrently.
    #[schemars(range(min = 1, max = 64))]
    pub workers: usize,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        Self { max_in_flight_bytes: 256 << 20, queue: 1024, workers: 2 }
    }
}
