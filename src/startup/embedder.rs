//! The embedder that the configuration names, with its cache.

use std::{num::NonZeroUsize, sync::Arc};

use crate::{
    config::Config,
    embed::{
        EmbedError, Embedder, Space,
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
        space: Space {
            model: embedding.model.clone(),
            dimension: embedding.dimension,
            pooling: embedding.pooling,
            precision: embedding.precision,
            query_prefix: embedding.query_prefix.clone(),
            passage_prefix: embedding.passage_prefix.clone(),
        },
        threads: NonZeroUsize::new(embedding.threads).unwrap_or(NonZeroUsize::MIN),
    })?;
    Ok(match NonZeroUsize::new(embedding.cache_entries) {
        Some(entries) => Arc::new(Cached::new(onnx, entries)),
        None => Arc::new(onnx),
    })
}
