//! Builds the project's programs with cargo.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::assets::repository;

/// The cargo profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Profile {
    /// Optimised, as released.
    Release,
    /// Faster to build, slower to run.
    Dev,
}

impl Profile {
    fn as_str(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dev => "dev",
        }
    }
}

/// The built programs.
#[derive(Clone, Debug)]
pub(crate) struct Binaries {
    pub memgate: PathBuf,
    pub model_double: PathBuf,
    pub xtask: PathBuf,
}

/// Checks that there is a C compiler, which SQLite and others need and which Rust links with.
///
/// # Errors
/// One sentence that names the compiler.
pub(crate) fn check_compiler() -> Result<()> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let found = Command::new(&compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match found {
        Ok(status) if status.success() => Ok(()),
        _ => bail!(
            "a C compiler is required, and {} could not be run: install one (Debian: apt install gcc)",
            compiler.display()
        ),
    }
}

/// Builds the programs of the whole workspace, so that dependencies always have the same features; cargo's progress and
/// errors go to the terminal.
///
/// # Errors
/// When cargo or a C compiler is missing, or the build fails.
pub(crate) fn binaries(profile: Profile) -> Result<Binaries> {
    Binaries::of(&build(&mut cargo(), profile, &["--bins"])?)
}

/// The programs as [`linted`] builds them, in the dev profile.
///
/// # Errors
/// As [`binaries`].
pub(crate) fn linted_binaries() -> Result<Binaries> {
    Binaries::of(&build(linted(&mut cargo()), Profile::Dev, &["--bins"])?)
}

/// Lets a cargo command compile the workspace's crates with clippy, which is rustc with more lints; warnings are errors.
/// So the code is compiled once for lints and tests, with dependencies that have no second, checked build.
pub(crate) fn linted(cargo: &mut Command) -> &mut Command {
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "--deny=warnings")
}

impl Binaries {
    /// The programs beside this one, as they are.
    ///
    /// # Errors
    /// When one of them is missing.
    pub(crate) fn beside_this_program() -> Result<Self> {
        let this = std::env::current_exe().context("cannot find this program's folder")?;
        let folder = this.parent().context("this program has no folder")?;
        let program = |name| {
            let path = folder.join(name);
            if path.is_file() {
                Ok(path)
            } else {
                bail!("--no-build requires {}: build it first", path.display())
            }
        };
        Ok(Self {
            memgate: program("memgate")?,
            model_double: program("model-double")?,
            xtask: program("xtask")?,
        })
    }

    /// The programs that cargo's messages name.
    fn of(messages: &str) -> Result<Self> {
        Ok(Self {
            memgate: executable(messages, "memgate")?,
            model_double: executable(messages, "model-double")?,
            xtask: executable(messages, "xtask")?,
        })
    }
}

/// Builds one of the examples.
///
/// # Errors
/// As [`binaries`].
pub(crate) fn example(profile: Profile, name: &str) -> Result<PathBuf> {
    executable(&build(&mut cargo(), profile, &["--example", name])?, name)
}

/// Runs cargo; returns its messages, one JSON object per line.
fn build(cargo: &mut Command, profile: Profile, targets: &[&str]) -> Result<String> {
    check_compiler()?;
    cargo
        .args(["build", "--workspace"])
        .args(targets)
        .args(["--profile", profile.as_str(), "--message-format", "json-render-diagnostics"])
        .stdout(Stdio::piped());
    let output = cargo
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the build failed; see cargo's output above");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The cargo that runs this program, in the project's folder.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    as_from_a_shell(&mut command).current_dir(repository());
    command
}

/// Removes what `cargo run` says of xtask's package: build scripts read such variables (ring's does), so cargo would
/// compile their crates again after each change between a shell and xtask.
pub(crate) fn as_from_a_shell(cargo: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let said = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if said.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// A line of cargo's JSON output; most lines have another format.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    profile: TestOrNot,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct TestOrNot {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

fn executable(output: &str, name: &str) -> Result<PathBuf> {
    output
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        .filter(|artifact| artifact.target.name == name && !artifact.profile.test)
        .find_map(|artifact| artifact.executable)
        .with_context(|| format!("cargo did not build the program {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"
        {"reason":"compiler-artifact","target":{"name":"memgate"},"profile":{"test":false},"executable":null}
        {"reason":"compiler-artifact","target":{"name":"memgate"},"profile":{"test":true},"executable":"/t/deps/memgate-1"}
        {"reason":"compiler-artifact","target":{"name":"memgate"},"profile":{"test":false},"executable":"/t/memgate"}
        {"reason":"build-finished","success":true}
    "#;

    #[test]
    fn programs_are_distinguished_from_libraries_and_tests() {
        assert_eq!(executable(OUTPUT, "memgate").unwrap(), PathBuf::from("/t/memgate"));
    }

    #[test]
    fn an_error_names_a_program_that_was_not_built() {
        let error = executable(OUTPUT, "other").unwrap_err().to_string();
        assert!(error.contains("other"), "{error}");
    }
}
