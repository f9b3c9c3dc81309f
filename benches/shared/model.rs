//! The embedding model of the benches.

use std::{num::NonZeroUsize, path::PathBuf};

use memgate_config::Config;
use memgate_embed::{
    Run, Space,
    onnx::{OnnxEmbedder, OnnxSettings},
};

/// The default configuration with the assets of this checkout. Without a model it says that the bench is skipped.
pub(crate) fn config(bench: &str) -> Option<Config> {
    let assets = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".assets");
    let config = Config { assets_dir: assets, ..Config::default() };
    let there = config.runtime_library().is_file() && config.model_folder().is_dir();
    if !there {
        println!("{bench}: skipped, there is no model; `cargo xtask assets` fetches it");
    }
    there.then_some(config)
}

/// The configured model, on one thread.
pub(crate) fn embedder(config: &Config) -> OnnxEmbedder {
    let model = &config.memory.embedding;
    OnnxEmbedder::load(&OnnxSettings {
        runtime: config.runtime_library(),
        folder: config.model_folder(),
        space: Space {
            model: model.model.clone(),
            dimension: model.dimension,
            run: Run::Here { pooling: model.pooling, precision: model.precision },
            query_prefix: model.query_prefix().to_owned(),
            passage_prefix: model.passage_prefix().to_owned(),
        },
        threads: NonZeroUsize::MIN,
    })
    .unwrap()
}
