//! Where the parts are.

use std::path::{Path, PathBuf};

use super::packages::fetch;
use super::packages::venv::Venv;

/// The folder below the repository that everything is put into.
pub(super) const FOLDER: &str = ".assets";

/// The default embedding model's name, and the name of its folder.
pub(crate) const MODEL: &str = "multilingual-e5-small-memgate-1";

/// The smaller model for English, likewise.
pub(super) const MINILM: &str = "all-MiniLM-L6-v2";

/// Where the parts are. A path is valid once [`ensure`] was asked for its kind.
#[derive(Clone, Debug)]
pub(crate) struct Assets {
    pub(super) root: PathBuf,
}

impl Assets {
    pub(super) fn at(repository: &Path) -> Self {
        Self { root: repository.join(FOLDER) }
    }

    /// The Envoy binary.
    pub(crate) fn envoy(&self) -> PathBuf {
        self.root.join("envoy/envoy")
    }

    /// ONNX Runtime's shared library.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.root.join("onnxruntime").join(fetch::RUNTIME_LIBRARY)
    }

    /// The default model's folder: model_int8.onnx, tokenizer.json, config.json.
    pub(crate) fn model(&self) -> PathBuf {
        self.root.join("models").join(MODEL)
    }

    /// The folder of all-MiniLM-L6-v2: the same, and model.onnx (fp32).
    pub(crate) fn minilm(&self) -> PathBuf {
        self.root.join("models").join(MINILM)
    }

    /// The folder of the default model's weights as they are published.
    pub(super) fn e5(&self) -> PathBuf {
        self.root.join("e5-small")
    }

    /// The weights that the trainer of the default model starts from.
    pub(crate) fn e5_weights(&self) -> PathBuf {
        self.e5().join(fetch::E5_WEIGHTS)
    }

    /// libfaketime's shared library.
    pub(crate) fn fake_time(&self) -> PathBuf {
        self.root.join("faketime").join(fetch::FAKE_TIME_LIBRARY)
    }

    /// The virtual environment's interpreter; its packages' commands stand beside it.
    pub(crate) fn python(&self) -> PathBuf {
        self.venv().python()
    }

    /// The folder of Milvus' program and of the libraries that it is to be run with.
    pub(crate) fn milvus(&self) -> PathBuf {
        self.root.join("milvus")
    }

    /// The folder of PostgreSQL: `bin`, `lib` and `share`.
    pub(crate) fn postgres(&self) -> PathBuf {
        self.root.join("postgres")
    }

    /// The folder of the browser of the tests: `chromium`, its `lib` and `fonts`, and `axe.min.js`.
    pub(crate) fn browser(&self) -> PathBuf {
        self.root.join("browser")
    }

    /// The interpreter that Milvus Lite is installed for.
    pub(crate) fn milvus_lite(&self) -> PathBuf {
        self.milvus_lite_venv().python()
    }

    pub(super) fn venv(&self) -> Venv {
        Venv::at(self.root.join("venv"))
    }

    /// The program of a cargo subcommand: the one in the assets, else the machine's.
    pub(crate) fn cargo_tool(&self, name: &str) -> PathBuf {
        let program = format!("cargo-{name}");
        let ours = self.cargo_tools().join(&program);
        if ours.exists() { ours } else { program.into() }
    }

    /// The folder of the cargo subcommands' programs.
    pub(crate) fn cargo_tools(&self) -> PathBuf {
        self.root.join("cargo-tools").join("bin")
    }

    /// The interpreter of the trainers.
    pub(crate) fn training(&self) -> PathBuf {
        self.training_venv().python()
    }

    pub(super) fn training_venv(&self) -> Venv {
        Venv::at(self.root.join("train"))
    }

    pub(super) fn milvus_lite_venv(&self) -> Venv {
        Venv::at(self.root.join("milvus-lite"))
    }
}
