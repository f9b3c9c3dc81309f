//! Which configuration file is meant.

use std::path::{Path, PathBuf};

/// Where the configuration is when nobody says so, seen from the working folder.
const USUAL: &str = "config/config.yaml";

/// The option that all commands share.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ConfigFile {
    /// The configuration [default: config/config.yaml if there is one, else every key's default].
    #[arg(long, value_name = "FILE", env = "MEMGATE_CONFIG")]
    config: Option<PathBuf>,
}

impl ConfigFile {
    /// The named file, else the usual one where it exists.
    pub(super) fn path(self) -> Option<PathBuf> {
        self.config.or_else(|| Path::new(USUAL).is_file().then(|| USUAL.into()))
    }
}
