//! One process at a time changes `.assets/`.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

use super::progress;

/// Prefix of the folders that downloads are unpacked in before they are renamed.
pub const TEMPORARY_PREFIX: &str = "tmp-";

/// The right to change `.assets/`; given back when dropped, or by the system when we die.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of `root`, and clears what an interrupted run left there.
    pub fn take(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("cannot create {}", root.display()))?;
        let path = root.join(".lock");
        let file =
            File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress::say("another process is fetching assets; waiting for it");
                file.lock().context("cannot wait for the assets lock")?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        clear_leftovers(root)?;
        Ok(Self { _file: file })
    }
}

fn clear_leftovers(root: &Path) -> Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn the_lock_excludes_a_second_holder_until_it_is_dropped() {
        let root = tempfile::tempdir().unwrap();
        let lock = Lock::take(root.path()).unwrap();
        let second = File::open(root.path().join(".lock")).unwrap();
        assert!(matches!(second.try_lock(), Err(TryLockError::WouldBlock)));
        drop(lock);
        second.try_lock().unwrap();
    }

    #[test]
    fn taking_the_lock_clears_what_an_interrupted_download_left() {
        let root = tempfile::tempdir().unwrap();
        let leftover = root.path().join("tmp-abc");
        fs::create_dir(&leftover).unwrap();
        fs::create_dir(root.path().join("envoy")).unwrap();
        let _lock = Lock::take(root.path()).unwrap();
        assert!(!leftover.exists());
        assert!(root.path().join("envoy").exists());
    }
}
