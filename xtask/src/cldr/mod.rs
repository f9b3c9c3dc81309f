//! `cargo xtask cldr`: writes `lang/cldr/*.toml`, the words for times of Unicode's Common Locale Data Repository.
//!
//! The files are committed, so that nothing needs to be downloaded to build. `lang/*.toml` has what people type besides.

mod package;
mod phrases;
mod table;

use std::fs;

use anyhow::{Context, Result, bail};

use self::package::Package;
use self::table::Table;
use crate::assets::progress::say;
use crate::assets::repository;

/// Other ways to write a language, whose words are added to it.
const WRITTEN_ALSO: [(&str, &str); 1] = [("zh", "zh-Hant")];

/// Arguments of `cargo xtask cldr`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail where a committed file differs.
    #[arg(long)]
    check: bool,
}

impl Args {
    /// Runs the command: downloads the pinned package, and writes or compares a file for each language of `lang/`.
    ///
    /// # Errors
    /// When the package cannot be fetched or has another digest, lacks a language, or, with `--check`, a file differs.
    pub(crate) fn run(&self) -> Result<()> {
        let package = Package::fetch()?;
        let folder = repository().join("lang");
        let mut codes = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                codes.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            }
        }
        codes.sort();
        fs::create_dir_all(folder.join("cldr"))?;
        for code in codes {
            let also = WRITTEN_ALSO.iter().filter(|(of, _)| *of == code).map(|(_, also)| *also);
            let mut table = Table::default();
            for locale in [code.as_str()].into_iter().chain(also) {
                table.add(&package.locale(locale)?).with_context(|| format!("locale {locale}"))?;
            }
            let path = folder.join("cldr").join(&code).with_extension("toml");
            let written = table.to_toml();
            if !self.check {
                fs::write(&path, written)?;
            } else if fs::read_to_string(&path).unwrap_or_default() != written {
                bail!("{} is not what `cargo xtask cldr` writes", path.display());
            }
            say(&format!(
                "lang/cldr/{code}.toml {}",
                if self.check { "is current" } else { "written" }
            ));
        }
        Ok(())
    }
}
