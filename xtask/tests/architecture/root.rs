//! The root has what this list names, and no stray note.

use std::process::Command;

use crate::repository;

/// Files and folders of the root that git tracks.
const ROOT: [&str; 35] = [
    ".cargo",
    ".ci",
    ".config",
    ".dockerignore",
    ".env.example",
    ".gitignore",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "benches",
    "clippy.toml",
    "config",
    "crates",
    "dashboard",
    "deny.toml",
    "deploy",
    "docker-compose.yaml",
    "docs",
    "e2e",
    "envoy",
    "examples",
    "fuzz",
    "lang",
    "models",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "src",
    "testdata",
    "tools",
    "xtask",
];

#[test]
fn the_root_holds_what_is_listed_and_nothing_else() {
    let tracked = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(repository())
        .output()
        .expect("git lists the tracked files");
    assert!(tracked.status.success(), "{}", String::from_utf8_lossy(&tracked.stderr));
    let tracked = String::from_utf8(tracked.stdout).expect("paths are UTF-8");
    let mut found: Vec<&str> =
        tracked.split_terminator('\0').filter_map(|path| path.split('/').next()).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, ROOT, "a new file of the root is named here; notes do not belong there");
}
