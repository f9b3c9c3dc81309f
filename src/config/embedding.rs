//! The `memory.embedding:` section: the models that turn text into vectors.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Endpoint, Pooling, Precision, Provider, Scheme};

/// The embedding model: a folder with `model.onnx` and `tokenizer.json`, or a server's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// The model's name: its folder under `assets_dir/models`, or `openai/…` or `voyage/…` and its name
    /// on a server. It is part of the embedding space's name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The vectors' length; must be what the model gives. A server is asked for it where its model's own
    /// is another.
    #[schemars(range(min = 1, max = 32768))]
    pub dimension: usize,
    /// The model's folder, where it is not `assets_dir/models/<model>`.
    pub folder: Option<PathBuf>,
    /// Where the model's server is, for `openai/…` and `voyage/…`; absent: the provider's own, with the key
    /// in `OPENAI_API_KEY` or `VOYAGE_API_KEY`.
    pub endpoint: Option<Endpoint>,
    /// The longest a request to the server may take; questions are waited for at most 5 seconds.
    #[schemars(range(min = 1, max = 600))]
    pub timeout_seconds: u64,
    /// ONNX Runtime's library, where it is not in `assets_dir/onnxruntime`.
    pub runtime_library: Option<PathBuf>,
    /// Which of the model's weights are used.
    pub precision: Precision,
    /// How token vectors become one; ignored by models that give one vector already.
    pub pooling: Pooling,
    /// Put before a query, for models that want it.
    pub query_prefix: String,
    /// Put before what is stored, for models that want it.
    pub passage_prefix: String,
    /// Threads of the model.
    #[schemars(range(min = 1, max = 64))]
    pub threads: usize,
    /// Texts whose vectors are kept in memory, so that a repeated one costs nothing; 0 keeps none.
    /// Each model keeps so many.
    #[schemars(range(max = 1000000))]
    pub cache_entries: usize,
    /// More models beside this one. Each text is embedded by all, and two texts are as near as the
    /// models find them in the mean, by their weights.
    #[schemars(length(max = 3))]
    pub beside: Vec<BesideConfig>,
}

impl EmbeddingConfig {
    /// The file name of ONNX Runtime's library, with the version memgate is built for.
    pub const RUNTIME_LIBRARY: &'static str = "libonnxruntime.so.1.31.1";
    /// What the first model counts; the weights of those beside it are measured by it.
    pub const WEIGHT: f32 = 1.0;
    /// The longest a vector may be, of all models together: Milvus takes no longer ones.
    pub const MOST_NUMBERS: usize = 32768;

    /// All models, this first.
    #[must_use]
    pub fn models(&self) -> Vec<EmbeddingModel> {
        let first = EmbeddingModel {
            key: "memory.embedding".to_owned(),
            weight: Self::WEIGHT,
            config: Self { beside: Vec::new(), ..self.clone() },
        };
        let beside = self.beside.iter().enumerate().map(|(index, beside)| EmbeddingModel {
            key: format!("memory.embedding.beside[{index}]"),
            weight: beside.weight,
            config: beside.as_only(self),
        });
        std::iter::once(first).chain(beside).collect()
    }

    /// Numbers in a vector: those of all models together.
    #[must_use]
    pub fn whole_dimension(&self) -> usize {
        self.beside.iter().fold(self.dimension, |sum, it| sum.saturating_add(it.dimension))
    }

    /// The server's kind, and the model's name there, where the model is on a server.
    #[must_use]
    pub fn remote(&self) -> Option<(Provider, &str)> {
        Provider::of(&self.model)
    }

    /// Where a provider's model is: at the configured server, else at the provider's own.
    #[must_use]
    pub fn endpoint_of(&self, provider: Provider) -> Endpoint {
        self.endpoint.clone().unwrap_or_else(|| Endpoint {
            address: provider.host().to_owned(),
            port: 443,
            scheme: Scheme::Https,
            path: None,
            api_key_env: Some(provider.key_env().to_owned()),
        })
    }

    /// The longest a request to the server may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self {
            model: "all-MiniLM-L6-v2".into(),
            dimension: 384,
            folder: None,
            endpoint: None,
            timeout_seconds: 10,
            runtime_library: None,
            precision: Precision::Int8,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            threads: 1,
            cache_entries: 4096,
            beside: Vec::new(),
        }
    }
}

/// A model beside the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BesideConfig {
    /// The model's name, as of the first one; no other model may have it.
    #[schemars(length(min = 1))]
    pub model: String,
    /// Its vectors' length.
    #[schemars(range(min = 1, max = 32768))]
    pub dimension: usize,
    /// What it counts where the first model counts 1.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub weight: f32,
    /// Its folder, where it is not `assets_dir/models/<model>`.
    pub folder: Option<PathBuf>,
    /// Where its server is, for `openai/…` and `voyage/…`; absent: the provider's own.
    pub endpoint: Option<Endpoint>,
    /// The longest a request to its server may take.
    #[schemars(range(min = 1, max = 600))]
    pub timeout_seconds: u64,
    /// Which of its weights are used.
    pub precision: Precision,
    /// How its token vectors become one.
    pub pooling: Pooling,
    /// Put before a query that it embeds.
    pub query_prefix: String,
    /// Put before what is stored when it embeds that.
    pub passage_prefix: String,
    /// Its threads.
    #[schemars(range(min = 1, max = 64))]
    pub threads: usize,
}

impl BesideConfig {
    /// The same, as if it were the only model; what holds for all is taken from the first.
    fn as_only(&self, first: &EmbeddingConfig) -> EmbeddingConfig {
        let Self {
            model,
            dimension,
            weight: _,
            folder,
            endpoint,
            timeout_seconds,
            precision,
            pooling,
            query_prefix,
            passage_prefix,
            threads,
        } = self.clone();
        EmbeddingConfig {
            model,
            dimension,
            folder,
            endpoint,
            timeout_seconds,
            runtime_library: first.runtime_library.clone(),
            precision,
            pooling,
            query_prefix,
            passage_prefix,
            threads,
            cache_entries: first.cache_entries,
            beside: Vec::new(),
        }
    }
}

impl Default for BesideConfig {
    fn default() -> Self {
        let usual = EmbeddingConfig::default();
        Self {
            model: String::new(),
            dimension: usual.dimension,
            weight: EmbeddingConfig::WEIGHT,
            folder: usual.folder,
            endpoint: usual.endpoint,
            timeout_seconds: usual.timeout_seconds,
            precision: usual.precision,
            pooling: usual.pooling,
            query_prefix: usual.query_prefix,
            passage_prefix: usual.passage_prefix,
            threads: usual.threads,
        }
    }
}

/// One of the models, the first or one beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingModel {
    /// Where it stands in the configuration.
    pub key: String,
    /// What it counts beside the others.
    pub weight: f32,
    /// What is configured of it, as if it were the only one.
    pub config: EmbeddingConfig,
}
