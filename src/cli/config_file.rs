//! The `--config` option.

use std::path::{Path, PathBuf};

/// Default path of the configuration, relative to the working directory.
const USUAL: &str = "config/config.yaml";

/// The option that all commands share.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ConfigFile {
    /// Configuration file [default: config/config.yaml if it exists, else the built-in defaults].
    #[arg(long, value_name = "FILE", env = "MEMGATE_CONFIG")]
    config: Option<PathBuf>,
}

impl ConfigFile {
    /// The given file, else the default path if it exists.
    pub(super) fn path(self) -> Option<PathBuf> {
        self.config.or_else(|| Path::new(USUAL).is_file().then(|| USUAL.into()))
    }
}
