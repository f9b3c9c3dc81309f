//! The embedder that the configuration names, with its cache; or none, for commands without need of one.

use std::{num::NonZeroUsize, sync::Arc};

use async_trait::async_trait;

use crate::{
    config::Config,
    embed::{
        EmbedError, Embedder, Space, Vector,
        cache::Cached,
        onnx::{OnnxEmbedder, OnnxSettings},
    },
};

/// Loads the model. Blocks for some hundred milliseconds.
pub(super) fn load(config: &Config) -> Result<Arc<dyn Embedder>, EmbedError> {
    let embedding = &config.memory.embedding;
    let onnx = OnnxEmbedder::load(&OnnxSettings {
        runtime: config.runtime_library(),
        folder: config.model_folder(),
        space: space(config),
        threads: NonZeroUsize::new(embedding.threads).unwrap_or(NonZeroUsize::MIN),
    })?;
    Ok(match NonZeroUsize::new(embedding.cache_entries) {
        Some(entries) => Arc::new(Cached::new(onnx, entries)),
        None => Arc::new(onnx),
    })
}

/// Stands in for the model where nothing is embedded: it answers that it is closed.
pub(super) fn absent(config: &Config) -> Arc<dyn Embedder> {
    Arc::new(Absent { space: space(config) })
}

fn space(config: &Config) -> Space {
    let embedding = &config.memory.embedding;
    Space {
        model: embedding.model.clone(),
        dimension: embedding.dimension,
        pooling: embedding.pooling,
        precision: embedding.precision,
        query_prefix: embedding.query_prefix.clone(),
        passage_prefix: embedding.passage_prefix.clone(),
    }
}

struct Absent {
    space: Space,
}

#[async_trait]
impl Embedder for Absent {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed_query(&self, _: &str) -> Result<Vector, EmbedError> {
        Err(EmbedError::Closed)
    }

    async fn embed_passages(&self, _: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        Err(EmbedError::Closed)
    }
}
