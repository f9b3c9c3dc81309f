//! Describes the machine and the versions of a measurement.

use std::process::Command;

use anyhow::{Context, Result};

use crate::assets::repository;

/// The machine and the versions.
pub(crate) struct Machine {
    pub processor: String,
    pub cores: usize,
    /// In GiB.
    pub memory: u64,
    pub kernel: String,
    pub date: String,
    pub commit: String,
    pub rustc: String,
    /// Load averages of one, five and fifteen minutes, before the first round.
    pub load_average: String,
}

impl Machine {
    /// Inspects the machine.
    ///
    /// # Errors
    /// When it does not run Linux.
    pub(crate) fn look() -> Result<Self> {
        let processors = read("/proc/cpuinfo")?;
        let processor = processors
            .lines()
            .find(|line| line.starts_with("model name"))
            .and_then(|line| line.split_once(": "))
            .map_or("an unnamed processor", |(_, name)| name);
        let memory = read("/proc/meminfo")?;
        let kib: Option<u64> = memory
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        Ok(Self {
            processor: processor.to_owned(),
            cores: std::thread::available_parallelism()?.get(),
            memory: kib.unwrap_or(0).div_ceil(1024 * 1024),
            kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            date: now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            commit: commit(),
            rustc: said(Command::new("rustc").arg("--version")),
            load_average: String::new(),
        })
    }
}

/// Load averages of one, five and fifteen minutes.
///
/// # Errors
/// When the machine does not run Linux.
pub(crate) fn load_average() -> Result<String> {
    let text = read("/proc/loadavg")?;
    Ok(text.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

#[expect(clippy::disallowed_methods, reason = "a developer's command; nothing is replayed")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// The commit, with a note if there are uncommitted changes.
fn commit() -> String {
    let git =
        |arguments: &[&str]| said(Command::new("git").args(arguments).current_dir(repository()));
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let sources =
        ["status", "--porcelain", "--untracked-files=no", "--", "src", "crates", "Cargo.lock"];
    if git(&sources).is_empty() { commit } else { format!("{commit} with changes") }
}

/// The first line of a program's output; empty if there is none.
fn said(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned()
}

fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}
