//! The manifest of a folder below `models/`, as far as the program needs it; scores and data are for people and
//! `cargo xtask train`.

use serde::Deserialize;

use crate::{error::Unreadable, features};
use memgate_embed::{Pooling, Run, Space};

/// The form of manifest and tensors that is read here.
const FORMAT: u32 = 1;

#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    /// The version of the features that the models were trained on.
    features: u32,
    /// SHA-256 of weights.safetensors; a test compares it.
    pub(super) weights_sha256: String,
    pub(super) embedder: Embedder,
}

/// The embedding model whose vectors the models were trained on.
#[derive(Debug, Deserialize)]
pub(super) struct Embedder {
    model: String,
    dimension: usize,
    pooling: Pooling,
    query_prefix: String,
    passage_prefix: String,
}

impl Manifest {
    pub(super) fn read(text: &str) -> Result<Self, Unreadable> {
        let manifest: Self = toml::from_str(text)?;
        let versions = [
            ("format", manifest.format, FORMAT),
            ("features", manifest.features, features::VERSION),
        ];
        for (key, found, read) in versions {
            if found != read {
                return Err(Unreadable::Version { key, found, read });
            }
        }
        Ok(manifest)
    }
}

impl Embedder {
    /// Whether the vectors of a space are this model's.
    pub(super) fn is(&self, space: &Space) -> bool {
        space.model == self.model
            && space.dimension == self.dimension
            && matches!(space.run, Run::Here { pooling, .. } if pooling == self.pooling)
            && space.query_prefix == self.query_prefix
            && space.passage_prefix == self.passage_prefix
    }
}
