//! The pinned package with CLDR's dates, as the Unicode Consortium publishes it on npm.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::assets::digest;
use crate::assets::progress::say;

/// The version, which the files that are written name.
pub(super) const VERSION: &str = "48.2.0";
const SHA256: &str = "0256f1cefeca14f7d515be4872dda48fcdd7e75381430f25aafd0143eae5b430";

/// The package, unpacked in a temporary folder.
pub(super) struct Package {
    folder: TempDir,
}

/// The words of a locale for times.
pub(super) struct Locale {
    /// `dates.fields`: relative times.
    pub fields: Value,
    /// `dates.calendars.gregorian`: names of months and weekdays.
    pub calendar: Value,
}

impl Package {
    /// Downloads, checks and unpacks it.
    pub(super) fn fetch() -> Result<Self> {
        let url =
            format!("https://registry.npmjs.org/cldr-dates-full/-/cldr-dates-full-{VERSION}.tgz");
        say(&format!("downloading CLDR {VERSION} (6 MB)"));
        let folder = tempfile::tempdir()?;
        let archive = folder.path().join("cldr.tgz");
        crate::tls::provide()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let bytes =
            runtime.block_on(async { reqwest::get(&url).await?.error_for_status()?.bytes().await });
        fs::write(&archive, bytes.with_context(|| format!("cannot download {url}"))?)?;
        digest::check("CLDR", &archive, SHA256)?;
        let unpacked =
            Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status();
        anyhow::ensure!(
            unpacked.context("cannot run tar")?.success(),
            "tar cannot unpack the package"
        );
        Ok(Self { folder })
    }

    /// Reads a locale.
    pub(super) fn locale(&self, code: &str) -> Result<Locale> {
        let read = |file: &str, path: &str| -> Result<Value> {
            let name = self.folder.path().join("package/main").join(code).join(file);
            let text = fs::read(&name).with_context(|| format!("CLDR has no {code}/{file}"))?;
            let mut whole: Value = serde_json::from_slice(&text)?;
            let found = whole.pointer_mut(&format!("/main/{code}/dates/{path}"));
            found.map(Value::take).with_context(|| format!("{code}/{file} has no dates/{path}"))
        };
        Ok(Locale {
            fields: read("dateFields.json", "fields")?,
            calendar: read("ca-gregorian.json", "calendars/gregorian")?,
        })
    }
}
