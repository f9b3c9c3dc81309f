//! The `memory.embedding:` section: the models that turn text into vectors.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sections::models::{Endpoint, Scheme};
use memgate_embed::{Pooling, Precision, remote::Provider};

/// The embedding model: a folder with `model.onnx` and `tokenizer.json`, or a model on a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// Model name: the folder under `assets_dir/models`, or `openai/<name>` or `voyage/<name>` for
    /// a model on a server. Part of the embedding space's name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// Dimension of the vectors. It must match the model; a server is asked to return this many
    /// dimensions.
    #[schemars(range(min = 1, max = 32768))]
    pub dimension: usize,
    /// Folder of the model, if it is not `assets_dir/models/<model>`.
    pub folder: Option<PathBuf>,
    /// Server of an `openai/…` or `voyage/…` model. Default: the provider's own server, with the
    /// key in `OPENAI_API_KEY` or `VOYAGE_API_KEY`.
    pub endpoint: Option<Endpoint>,
    /// Timeout of a request to the server, in seconds. Queries time out after at most 5 seconds.
    #[schemars(range(min = 1, max = 600))]
    pub timeout_seconds: u64,
    /// Path of the ONNX Runtime library, if it is not in `assets_dir/onnxruntime`.
    pub runtime_library: Option<PathBuf>,
    /// Numeric precision of the model's weights.
    pub precision: Precision,
    /// How token vectors are pooled into one. Ignored by models that already return one vector.
    pub pooling: Pooling,
    /// Prefix added to queries, for models that expect one. Default: the one of a model that comes with memgate, else
    /// none.
    pub query_prefix: Option<String>,
    /// Prefix added to stored texts, for models that expect one. Default: likewise.
    pub passage_prefix: Option<String>,
    /// Number of threads per model.
    #[schemars(range(min = 1, max = 64))]
    pub threads: usize,
    /// Maximum number of cached vectors per model; 0 disables the cache.
    #[schemars(range(max = 1000000))]
    pub cache_entries: usize,
    /// More embedding models, at most three. Every text is embedded by all models; similarity is
    /// the weighted mean of the models' cosines.
    #[schemars(length(max = 3))]
    pub additional: Vec<AdditionalEmbeddingConfig>,
}

impl EmbeddingConfig {
    /// The default model: multilingual-e5-small, its top layers trained for memgate. A new training changes the name,
    /// so that vectors of both are never compared.
    pub const MODEL: &'static str = "multilingual-e5-small-memgate-1";
    /// File name of the ONNX Runtime library, with the version memgate is built for.
    pub const RUNTIME_LIBRARY: &'static str = "libonnxruntime.so.1.31.1";
    /// Weight of the first model. The weights of the additional models are relative to it.
    pub(crate) const WEIGHT: f32 = 1.0;
    /// Maximum dimension of all models together; Milvus accepts no longer vectors.
    pub(crate) const MOST_NUMBERS: usize = 32768;

    /// All models, the first one first.
    #[must_use]
    pub fn models(&self) -> Vec<EmbeddingModel> {
        let first = EmbeddingModel {
            key: "memory.embedding".to_owned(),
            weight: Self::WEIGHT,
            config: Self { additional: Vec::new(), ..self.clone() },
        };
        let additional = self.additional.iter().enumerate().map(|(index, model)| EmbeddingModel {
            key: format!("memory.embedding.additional[{index}]"),
            weight: model.weight,
            config: model.as_only(self),
        });
        std::iter::once(first).chain(additional).collect()
    }

    /// Prefix of queries.
    #[must_use]
    pub fn query_prefix(&self) -> &str {
        self.query_prefix.as_deref().unwrap_or(self.usual_prefixes()[0])
    }

    /// Prefix of stored texts.
    #[must_use]
    pub fn passage_prefix(&self) -> &str {
        self.passage_prefix.as_deref().unwrap_or(self.usual_prefixes()[1])
    }

    /// The prefixes of queries and of stored texts that the model was trained with.
    fn usual_prefixes(&self) -> [&'static str; 2] {
        if self.model == Self::MODEL { ["query: ", "passage: "] } else { ["", ""] }
    }

    /// Dimension of a stored vector: the sum over all models.
    pub(crate) fn whole_dimension(&self) -> usize {
        self.additional.iter().fold(self.dimension, |sum, it| sum.saturating_add(it.dimension))
    }

    /// The provider and the model's name there, if the model is on a server.
    #[must_use]
    pub fn remote(&self) -> Option<(Provider, &str)> {
        Provider::of(&self.model)
    }

    /// The endpoint of a provider's model: the configured one, else the provider's own.
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

    /// Timeout of a request to the server.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self {
            model: Self::MODEL.into(),
            dimension: 384,
            folder: None,
            endpoint: None,
            timeout_seconds: 10,
            runtime_library: None,
            precision: Precision::Int8,
            pooling: Pooling::Mean,
            query_prefix: None,
            passage_prefix: None,
            threads: 1,
            cache_entries: 4096,
            additional: Vec::new(),
        }
    }
}

/// An additional embedding model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdditionalEmbeddingConfig {
    /// Model name, as for the first model. Names must be unique.
    #[schemars(length(min = 1))]
    pub model: String,
    /// Dimension of its vectors.
    #[schemars(range(min = 1, max = 32768))]
    pub dimension: usize,
    /// Weight relative to the first model, which has weight 1.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub weight: f32,
    /// Folder of the model, if it is not `assets_dir/models/<model>`.
    pub folder: Option<PathBuf>,
    /// Server of an `openai/…` or `voyage/…` model. Default: the provider's own server.
    pub endpoint: Option<Endpoint>,
    /// Timeout of a request to the server, in seconds.
    #[schemars(range(min = 1, max = 600))]
    pub timeout_seconds: u64,
    /// Numeric precision of the model's weights.
    pub precision: Precision,
    /// How token vectors are pooled into one.
    pub pooling: Pooling,
    /// Prefix added to queries; see the first model's.
    pub query_prefix: Option<String>,
    /// Prefix added to stored texts; see the first model's.
    pub passage_prefix: Option<String>,
    /// Number of threads.
    #[schemars(range(min = 1, max = 64))]
    pub threads: usize,
}

impl AdditionalEmbeddingConfig {
    /// The settings as if this were the only model; shared settings come from the first model.
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
            additional: Vec::new(),
        }
    }
}

impl Default for AdditionalEmbeddingConfig {
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

/// One embedding model, the first or an additional one.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingModel {
    /// Key of the model in the configuration.
    pub key: String,
    /// Weight relative to the other models.
    pub weight: f32,
    /// Its settings, as if it were the only model.
    pub config: EmbeddingConfig,
}
