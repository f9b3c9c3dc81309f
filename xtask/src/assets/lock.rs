//! The lock of `.assets/`, for one process at a time.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

use super::progress;

/// Prefix of temporary folders, which are renamed when complete.
pub(super) const TEMPORARY_PREFIX: &str = "tmp-";

/// An exclusive lock of `.assets/`; released on drop, or by the system when the process ends.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock of `root`, and removes leftovers of an interrupted run.
    pub(super) fn take(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("cannot create {}", root.display()))?;
        let path = root.join(".lock");
        let file =
            File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress::say("waiting for another process that downloads assets");
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
    fn taking_the_lock_removes_interrupted_downloads() {
        let root = tempfile::tempdir().unwrap();
        let leftover = root.path().join("tmp-abc");
        fs::create_dir(&leftover).unwrap();
        fs::create_dir(root.path().join("envoy")).unwrap();
        let _lock = Lock::take(root.path()).unwrap();
        assert!(!leftover.exists());
        assert!(root.path().join("envoy").exists());
    }
}
