//! Virtual environments for Python tools, with hashed requirements.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::fetch::run;
use crate::assets::{digest, stamp::Stamp};

/// A virtual environment, which may not exist yet.
pub(in crate::assets) struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// The environment in this folder.
    pub(in crate::assets) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Its interpreter; the commands of its packages are in the same folder.
    pub(in crate::assets) fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Whether everything in `requirements` (a path in `repository`) is installed.
    pub(in crate::assets) fn has(&self, repository: &Path, requirements: &str) -> Result<bool> {
        // `exists` follows the link, so a removed interpreter counts as missing.
        Ok(self.python().exists() && self.stamp(repository, requirements)?.is_current()?)
    }

    /// Installs everything in `requirements`; creates the environment if it is missing.
    pub(in crate::assets) fn install(&self, repository: &Path, requirements: &str) -> Result<()> {
        if !(self.python().exists() && self.made().is_current()?) {
            self.create()?;
        }
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "install", "--require-hashes", "--only-binary=:all:"])
            // The files name all packages that are wanted.
            .args(["--no-deps", "--disable-pip-version-check", "--no-input", "--requirement"])
            .arg(repository.join(requirements));
        run(&mut pip, &format!("installing {requirements}"))?;
        self.stamp(repository, requirements)?.write()
    }

    /// The environment contains its own path, so it is created in place; an incomplete one has no
    /// stamp and is removed here.
    fn create(&self) -> Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)
                .with_context(|| format!("cannot clear {}", self.folder.display()))?;
        }
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(&self.folder);
        run(&mut venv, "creating the Python environment")?;
        self.made().write()
    }

    /// The stamp of the environment itself, with its pip.
    fn made(&self) -> Stamp {
        Stamp::new(self.folder.join("made.stamp"), &[])
    }

    fn stamp(&self, repository: &Path, requirements: &str) -> Result<Stamp> {
        let name = requirements.replace('/', "-");
        let digest = digest::of_file(&repository.join(requirements))?;
        Ok(Stamp::new(self.folder.join(format!("{name}.stamp")), &[&digest]))
    }
}
