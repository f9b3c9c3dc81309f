//! The programs of a measurement.

use std::path::PathBuf;

use crate::{assets, build};

/// The programs that run only here.
pub(super) struct Programs {
    pub(super) binaries: build::Binaries,
    pub(super) noop: PathBuf,
    pub(super) seeder: PathBuf,
    pub(super) assets: assets::Assets,
}
