//! Cargo subcommands, compiled from crates.io at a pinned version; their lock files pin what is in them.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use super::fetch::run;

/// The subcommands that the tests run.
pub(super) const ALL: [CargoTool; 2] = [
    CargoTool { name: "cargo-nextest", version: "0.9.143" },
    CargoTool { name: "cargo-deny", version: "0.20.2" },
];

/// A cargo subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CargoTool {
    /// The crate, and its program.
    name: &'static str,
    version: &'static str,
}

impl CargoTool {
    /// For a progress line.
    pub(super) fn describe(&self) -> String {
        format!("{} {} (compiled from crates.io)", self.name, self.version)
    }

    /// Whether the pinned version is in `bin`, or installed on the machine.
    pub(super) fn is_there(&self, bin: &Path) -> bool {
        self.answers(&bin.join(self.name)) || self.answers(Path::new(self.name))
    }

    fn answers(&self, program: &Path) -> bool {
        let output = Command::new(program).arg("--version").stderr(Stdio::null()).output();
        output.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout)
                .split_whitespace()
                .any(|word| word == self.version)
        })
    }

    /// Compiles it into `bin`, unoptimised: it runs for less time than optimising takes.
    pub(super) fn install(&self, bin: &Path) -> Result<()> {
        let Some(root) = bin.parent() else { bail!("{} has no parent", bin.display()) };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut install = Command::new(cargo);
        install
            .args(["install", "--locked", "--debug", "--version", self.version, "--root"])
            .arg(root)
            .arg(self.name)
            // Beside the project's own objects, which have other features.
            .env("CARGO_TARGET_DIR", root.join("target"));
        run(&mut install, &format!("installing {} {}", self.name, self.version))?;
        std::fs::remove_dir_all(root.join("target")).or(Ok(()))
    }
}
