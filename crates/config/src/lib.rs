//! The configuration: its types, loading, checking and reloading.
//!
//! The types are the single source of truth: the JSON schema and the bounds are generated from
//! them, and tests compare `config/config.yaml` and `docs/config.md` with them. This module reads
//! the configuration file and the environment and nothing else, and never acts on a value.

mod check;
mod client_tls;
mod embedding_check;
mod environment;
mod live;
mod load;
mod parse;
mod preset;
mod reload_guard;
mod schema;
mod sections;
mod zone;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use client_tls::ClientTlsConfig;
pub use live::{Live, Reloaded};
use memgate_telemetry::TelemetryConfig;
pub use parse::problem::{ConfigError, Place, Problem};
pub use preset::Preset;
pub use schema::json_schema;
pub use sections::api::{ApiConfig, AuditConfig};
pub use sections::effective::Effective;
pub use sections::embedding::{AdditionalEmbeddingConfig, EmbeddingConfig, EmbeddingModel};
pub use sections::identity::{
    AnonymousSessionsConfig, IdentityConfig, IdentityMode, JwtConfig, SignalHeaders,
    SignalMetadata, SignalsConfig,
};
pub use sections::listen::{GrpcAddress, GrpcTls, HttpTls, Listen};
pub use sections::memory::{
    CaptureConfig, ExtractionConfig, ExtractionMode, JournalConfig, MemoryConfig, ReconcileConfig,
    ReconcilePolicy, SessionsConfig, SqliteConfig, StandingConfig, StoreKind, Sync,
};
pub use sections::milvus::MilvusConfig;
pub use sections::models::{Endpoint, ExternalModel, LlmProvider, ModelRole, Scheme};
pub use sections::placement::Placement;
pub use sections::policy::{HeaderMatch, Policy, PolicyMatch, Subject};
pub use sections::postgres::PostgresConfig;
pub use sections::trail::TrailConfig;
pub use zone::Zone;

/// The configuration of memgate. Every key has a default, so `{}` is a valid file. `${NAME}` inside
/// a string value is replaced by that environment variable; `$${` is a literal `${`. `MEMGATE_MEMORY__DEADLINE_MS` in the
/// environment sets `memory.deadline_ms`, and counts more than the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "memgate")]
pub struct Config {
    /// The base that all other keys are laid on.
    pub preset: Preset,
    /// The addresses memgate listens on.
    pub listen: Listen,
    /// Folder of the journal and of the SQLite store; created if it does not exist. Only one
    /// process can use it at a time.
    pub data_dir: PathBuf,
    /// Folder of the downloaded assets: `onnxruntime/` and `models/`.
    pub assets_dir: PathBuf,
    /// Memory: its contents, its store, and how it is recalled.
    pub memory: MemoryConfig,
    /// The REST API.
    pub api: ApiConfig,
    /// The log of who changed what. It holds ids and no content, and outlives the memories of a
    /// user.
    pub audit: AuditConfig,
    /// Logs and traces. Metrics are always served at `/metrics`.
    pub telemetry: TelemetryConfig,
    /// Helper language models, at most one per role. They are optional.
    pub external_models: Vec<ExternalModel>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            preset: Preset::Default,
            listen: Listen::default(),
            data_dir: PathBuf::from("./data"),
            assets_dir: PathBuf::from(".assets"),
            memory: MemoryConfig::default(),
            api: ApiConfig::default(),
            audit: AuditConfig::default(),
            telemetry: TelemetryConfig::default(),
            external_models: Vec::new(),
        }
    }
}

impl Config {
    /// Folder of the first embedding model.
    #[must_use]
    pub fn model_folder(&self) -> PathBuf {
        self.folder_of(&self.memory.embedding)
    }

    /// Folder of an embedding model: the configured one, else its place in the assets.
    #[must_use]
    pub fn folder_of(&self, model: &EmbeddingConfig) -> PathBuf {
        let usual = || self.assets_dir.join("models").join(&model.model);
        model.folder.clone().unwrap_or_else(usual)
    }

    /// The ONNX Runtime library: `memory.embedding.runtime_library`, else its place in the assets.
    #[must_use]
    pub fn runtime_library(&self) -> PathBuf {
        self.memory.embedding.runtime_library.clone().unwrap_or_else(|| {
            self.assets_dir.join("onnxruntime").join(EmbeddingConfig::RUNTIME_LIBRARY)
        })
    }

    /// The helper model of a role, if one is configured.
    #[must_use]
    pub fn model(&self, role: ModelRole) -> Option<&ExternalModel> {
        self.external_models.iter().find(|model| model.model_role == role)
    }
}
