//! Stamp files: they record the sources of a folder and are written last. A folder with a missing
//! or different stamp is rebuilt.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// A stamp file and its expected content.
#[derive(Debug)]
pub(super) struct Stamp {
    path: PathBuf,
    expected: String,
}

impl Stamp {
    /// The stamp at `path`, with the digests of all `sources`.
    pub(super) fn new(path: PathBuf, sources: &[&str]) -> Self {
        let expected = sources.join("\n");
        Self { path, expected }
    }

    /// Whether the stamp has the expected content.
    pub(super) fn is_current(&self) -> Result<bool> {
        match fs::read_to_string(&self.path) {
            Ok(found) => Ok(found == self.expected),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read {}", self.path.display()))
            }
        }
    }

    /// Writes the stamp. Call it when the folder is complete.
    pub(super) fn write(&self) -> Result<()> {
        fs::write(&self.path, &self.expected)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_current_while_its_sources_are_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".stamp");
        let stamp = Stamp::new(path.clone(), &["a", "b"]);
        assert!(!stamp.is_current().unwrap(), "no stamp yet");
        stamp.write().unwrap();
        assert!(stamp.is_current().unwrap());
        assert!(!Stamp::new(path, &["a", "c"]).is_current().unwrap());
    }
}
