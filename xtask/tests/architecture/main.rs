//! Holds the code to what the documents say of it: which crate depends on which (ARCHITECTURE.md), no import cycle between
//! the files of a crate, folders that can be read at a glance, the tests of the promises in SECURITY.md, and what the root holds.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod crates;
mod cycles;
mod folders;
mod imports;
mod modules;
mod promises;
mod root;

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
