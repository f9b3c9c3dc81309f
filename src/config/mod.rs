//! The configuration: its types, loading and checking them, and swapping them while running.
//!
//! The types are the one source of truth: the JSON schema, the bounds, `config/config.yaml` and
//! `docs/config.md` are made from or held against them. This module must never act on a value, nor
//! open anything but the configuration file itself.

mod check;
mod effective;
mod embedding;
mod embedding_check;
mod interpolate;
mod listen;
mod live;
mod load;
mod loosening;
mod memory;
mod milvus;
mod mistake;
mod models;
mod node;
mod placement;
mod policy;
mod problem;
mod request;
mod schema;
mod server;
mod suggest;
mod typed;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::embed::{Pooling, Precision, remote::Provider};
pub use effective::Effective;
pub use embedding::{BesideConfig, EmbeddingConfig, EmbeddingModel};
pub use listen::{GrpcAddress, GrpcTls, Listen};
pub use live::{Live, Reloaded};
pub use memory::{
    CaptureConfig, ExtractionConfig, ExtractionMode, JournalConfig, MemoryConfig, ReconcileConfig,
    ReconcilePolicy, SessionsConfig, SqliteConfig, StandingConfig, StoreKind, Sync,
};
pub use milvus::{MilvusConfig, MilvusTlsConfig};
pub use models::{Endpoint, ExternalModel, LlmProvider, ModelRole, Scheme};
pub use placement::Placement;
pub use policy::{HeaderMatch, Policy, PolicyMatch, Subject};
pub use problem::{ConfigError, Problem};
pub use request::{
    IdentityConfig, IdentityMode, JwtConfig, SignalHeaders, SignalMetadata, SignalsConfig,
};
pub use schema::json_schema;
pub use server::{ApiConfig, LogFormat, LogLevel, TelemetryConfig};

/// The configuration of memgate. Every key has a default, so that `{}` is a working file.
/// `${NAME}` inside a string value is replaced by that environment variable; `$${` stands for `${`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "memgate")]
pub struct Config {
    /// The addresses memgate listens on.
    pub listen: Listen,
    /// The folder of the journal and of the SQLite store; made when absent. One process a folder.
    pub data_dir: PathBuf,
    /// The folder of what was fetched: `onnxruntime/` and `models/`.
    pub assets_dir: PathBuf,
    /// What is remembered, where, and how it is found again.
    pub memory: MemoryConfig,
    /// The REST API.
    pub api: ApiConfig,
    /// Logs and traces. Metrics are always at `/metrics`.
    pub telemetry: TelemetryConfig,
    /// Language models that help: each role at most once. Without one, memgate does without.
    pub external_models: Vec<ExternalModel>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: Listen::default(),
            data_dir: PathBuf::from("./data"),
            assets_dir: PathBuf::from(".assets"),
            memory: MemoryConfig::default(),
            api: ApiConfig::default(),
            telemetry: TelemetryConfig::default(),
            external_models: Vec::new(),
        }
    }
}

impl Config {
    /// The first embedding model's folder.
    #[must_use]
    pub fn model_folder(&self) -> PathBuf {
        self.folder_of(&self.memory.embedding)
    }

    /// An embedding model's folder: the one that is named, else the model's place in the assets.
    #[must_use]
    pub fn folder_of(&self, model: &EmbeddingConfig) -> PathBuf {
        let usual = || self.assets_dir.join("models").join(&model.model);
        model.folder.clone().unwrap_or_else(usual)
    }

    /// ONNX Runtime's library: `memory.embedding.runtime_library`, else its place in the assets.
    #[must_use]
    pub fn runtime_library(&self) -> PathBuf {
        self.memory.embedding.runtime_library.clone().unwrap_or_else(|| {
            self.assets_dir.join("onnxruntime").join(EmbeddingConfig::RUNTIME_LIBRARY)
        })
    }

    /// The helper model of a role, where one is configured.
    #[must_use]
    pub fn model(&self, role: ModelRole) -> Option<&ExternalModel> {
        self.external_models.iter().find(|model| model.model_role == role)
    }
}
