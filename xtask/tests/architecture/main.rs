//! Holds the code to the structure that ARCHITECTURE.md draws: which crate depends on which, no import cycle between
//! the files of a crate, and folders that can be read at a glance.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod crates;
mod cycles;
mod folders;
mod imports;
mod modules;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The `src` folder of each of our crates, by the crate's name.
fn sources() -> Vec<(String, PathBuf)> {
    crates::packages()
        .into_iter()
        .map(|package| (package.name, package.folder.join("src")))
        .collect()
}
