//! The virtual environment for Python tools, filled from requirements files with hashes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::fetch::run;
use super::stamp::Stamp;
use super::{Assets, digest};

/// Whether everything in `requirements` (a path below `repository`) is installed.
pub fn has(assets: &Assets, repository: &Path, requirements: &str) -> Result<bool> {
    // `exists` follows the link, so an interpreter that was uninstalled counts as missing.
    Ok(assets.python().exists() && stamp(assets, repository, requirements)?.is_current()?)
}

/// Installs everything in `requirements`, making the environment when there is none.
pub fn install(assets: &Assets, repository: &Path, requirements: &str) -> Result<()> {
    if !(assets.python().exists() && made(assets).is_current()?) {
        create(assets)?;
    }
    let mut pip = Command::new(assets.python());
    pip.args(["-m", "pip", "install", "--require-hashes", "--only-binary=:all:"])
        .args(["--disable-pip-version-check", "--no-input", "--requirement"])
        .arg(repository.join(requirements));
    run(&mut pip, &format!("installing {requirements}"))?;
    stamp(assets, repository, requirements)?.write()
}

/// The environment knows its own path, so it is made in place; a half-made one has no stamp
/// and is cleared here.
fn create(assets: &Assets) -> Result<()> {
    let folder = assets.venv();
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    run(&mut venv, "creating the Python environment")?;
    made(assets).write()
}

/// Says that the environment itself is complete, with its pip.
fn made(assets: &Assets) -> Stamp {
    Stamp::new(assets.venv().join("made.stamp"), &[])
}

fn stamp(assets: &Assets, repository: &Path, requirements: &str) -> Result<Stamp> {
    let name = requirements.replace('/', "-");
    let digest = digest::of_file(&repository.join(requirements))?;
    Ok(Stamp::new(assets.venv().join(format!("{name}.stamp")), &[&digest]))
}
