//! Pinned packages of npm: downloads them with npm, checks the digest, and extracts files. npm is needed only for the
//! browser tests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::fetch::run;
use crate::assets::digest;

/// A pinned package of npm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::assets) struct NpmPackage {
    name: &'static str,
    version: &'static str,
    /// SHA-256 of the package's archive, in lower-case hexadecimal.
    pub(in crate::assets) sha256: &'static str,
    /// Files to extract: path in the archive, name here. `.br` files are decompressed, and `.tar.br` files unpacked into a
    /// folder.
    files: &'static [(&'static str, &'static str)],
}

/// Chromium without a window (BSD-3-Clause), with the libraries and a font that a machine may lack. It runs as root.
pub(in crate::assets) const CHROMIUM: NpmPackage = NpmPackage {
    name: "@sparticuz/chromium",
    version: "153.0.0",
    sha256: "20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0",
    files: &[
        ("package/bin/chromium.br", "chromium"),
        ("package/bin/al2023.tar.br", "."),
        ("package/bin/fonts.tar.br", "."),
    ],
};

/// axe-core (MPL-2.0), which finds what makes a page hard to use for people with disabilities.
pub(in crate::assets) const AXE: NpmPackage = NpmPackage {
    name: "axe-core",
    version: "4.14.1",
    sha256: "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
    files: &[("package/axe.min.js", "axe.min.js")],
};

/// Arguments: archive, then pairs of path in the archive and target. Requires the package brotli.
const EXTRACT: &str = "\
import brotli, io, os, sys, tarfile
archive, *pairs = sys.argv[1:]
with tarfile.open(archive) as package:
    for member, target in zip(pairs[::2], pairs[1::2]):
        data = package.extractfile(member).read()
        if member.endswith('.br'):
            data = brotli.decompress(data)
        if member.endswith('.tar.br'):
            tarfile.open(fileobj=io.BytesIO(data)).extractall(target)
        else:
            with open(target, 'wb') as sink:
                sink.write(data)
            os.chmod(target, 0o755)";

impl NpmPackage {
    /// Downloads and checks the package, and extracts its files into `folder` with this interpreter.
    ///
    /// # Errors
    /// When npm is missing or cannot download it, or its digest is another.
    pub(in crate::assets) fn unpack_into(&self, folder: &Path, python: &Path) -> Result<()> {
        let Self { name, version, .. } = self;
        let download = tempfile::Builder::new().prefix("npm-").tempdir_in(folder)?;
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", "--pack-destination"]).arg(download.path());
        npm.arg(format!("{name}@{version}")).current_dir(download.path());
        run(&mut npm, &format!("downloading {name} {version} with npm"))?;
        let Some(archive) = std::fs::read_dir(download.path())?.next() else {
            bail!("npm was expected to download one file");
        };
        let archive = archive.context("cannot read the download")?.path();
        digest::check(&format!("{name} {version}"), &archive, self.sha256)?;
        let mut extract = Command::new(python);
        extract.args(["-c", EXTRACT]).arg(&archive);
        for (member, target) in self.files {
            extract.arg(member).arg(folder.join(target));
        }
        run(&mut extract, &format!("unpacking {name}"))
    }
}
