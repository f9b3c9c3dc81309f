//! Fills the data folder of a memgate before it is started.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::plan::{MEMORIES, Store};
use crate::assets::progress::say;
use crate::assets::repository;
use crate::process::Program;
use crate::{assets, build};

/// The programs that run only here.
pub(super) struct Programs {
    pub(super) binaries: build::Binaries,
    pub(super) noop: PathBuf,
    pub(super) seeder: PathBuf,
    pub(super) assets: assets::Assets,
}

/// The data folder of a store.
pub(super) fn folder(root: &Path, store: &Store) -> PathBuf {
    root.join(store.subject.name())
}

/// Fills the store; the seeder prints its progress.
///
/// # Errors
/// When the seeder fails.
pub(super) async fn fill(programs: &Programs, root: &Path, store: Store) -> Result<()> {
    let folder = folder(root, &store);
    say(&format!("filling a store: {} users with {MEMORIES} memories each", store.users));
    let program = Program {
        path: programs.seeder.clone(),
        arguments: [
            "--data".into(),
            folder.into(),
            "--assets".into(),
            repository().join(".assets").into(),
            "--users".into(),
            store.users.to_string().into(),
            "--memories".into(),
            MEMORIES.to_string().into(),
        ]
        .into(),
        folder: repository(),
    };
    let ended = program.command().status().await.context("cannot start the seeder")?;
    if !ended.success() {
        bail!("cannot fill the store ({ended}); see the seeder's output above");
    }
    Ok(())
}
