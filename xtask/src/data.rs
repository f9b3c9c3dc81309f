//! `cargo xtask data`: data of others on which memgate is measured. Nothing needs it to build, test or train.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::assets::{digest::hex, progress::say, repository};

/// Where LongMemEval_S lies as one file a question (MIT), and at which commit.
const REPOSITORY: &str = "https://github.com/hussainzs/Memoria";
const COMMIT: &str = "959167b875ddc992661da1cf1a3263821e6831ed";
const FOLDER: &str = "evaluations/data/lme_jsons";
/// The files of the questions with about 50 sessions begin with a number in this range.
const NUMBERS: std::ops::RangeInclusive<u32> = 38..=62;
/// The SHA-256 of these files one after the other, in the order of their names.
const SHA256: &str = "aaa6a09b06e7e48db0a8f80a727cd888b4ce22c19f9405c68a67fca3112bb9f8";

/// Arguments of `cargo xtask data`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(value_enum)]
    name: Name,
    /// Take the files from this folder instead of fetching them
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    /// LongMemEval_S: 498 questions with about 500 messages each (254 MB)
    Longmemeval,
}

impl Args {
    pub(crate) fn run(self) -> Result<()> {
        let Name::Longmemeval = self.name;
        let folder = repository().join(".assets/data/longmemeval");
        match &self.from {
            Some(from) => copy(from, &folder)?,
            None => fetch(&folder)?,
        }
        say(&format!("498 questions in {}", folder.display()));
        Ok(())
    }
}

/// Fetches the commit's files with git and copies them.
fn fetch(folder: &Path) -> Result<()> {
    let clone = folder.with_extension("git");
    if clone.exists() {
        fs::remove_dir_all(&clone)?;
    }
    fs::create_dir_all(&clone)?;
    say(&format!("fetching {REPOSITORY} at {COMMIT} (254 MB unpacked)"));
    for arguments in [
        &["init", "--quiet"][..],
        &["remote", "add", "origin", REPOSITORY],
        &["sparse-checkout", "set", FOLDER],
        &["fetch", "--depth", "1", "--filter=blob:none", "--progress", "origin", COMMIT],
        &["checkout", "--quiet", "FETCH_HEAD"],
    ] {
        let ended = Command::new("git").arg("-C").arg(&clone).args(arguments).status();
        let ended = ended.context("git cannot be started")?;
        ensure!(ended.success(), "git {} failed", arguments.join(" "));
    }
    copy(&clone.join(FOLDER), folder)?;
    fs::remove_dir_all(&clone).context("the clone cannot be removed")
}

/// Copies the questions' files, if they are the pinned ones.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("{}", from.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| number(file).is_some_and(|number| NUMBERS.contains(&number)));
    files.sort();
    let mut digest = Sha256::new();
    for file in &files {
        digest.update(fs::read(file).with_context(|| format!("{}", file.display()))?);
    }
    let found = hex(&digest.finalize());
    ensure!(
        found == SHA256,
        "{}: {} files with the SHA-256 {found}, and not those of commit {COMMIT} ({SHA256})",
        from.display(),
        files.len()
    );
    fs::create_dir_all(to)?;
    for file in files {
        let name = file.file_name().context("a file without a name")?;
        fs::copy(&file, to.join(name)).with_context(|| format!("{}", to.display()))?;
    }
    Ok(())
}

/// The number before the first `_` of a file's name.
fn number(file: &Path) -> Option<u32> {
    file.file_stem()?.to_str()?.split_once('_')?.0.parse().ok()
}
