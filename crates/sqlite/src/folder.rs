//! The lock of a data folder: one process at a time, and others can find out which.

use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::connection::create_folder;

/// Name of the lock file in the folder.
const LOCK: &str = "memgate.lock";

/// Number of attempts. A process that only looks up the holder locks briefly, and a new holder
/// needs a moment to write its note; both are waited for.
const TRIES: u32 = 10;
/// Pause between attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum size of a lock file, in bytes.
const MAX_NOTE: u64 = 4096;

/// A data folder that this process has locked until dropped. It is a lock of the operating system,
/// so it also ends when the process is killed.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    lock: File,
}

/// The process that holds a data folder.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Origin of its REST API; `None` for a short-lived command.
    pub api: Option<String>,
    /// A key to that API, for those who may read the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Without the key.
impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Holder");
        shown.field("pid", &self.pid).field("api", &self.api).finish_non_exhaustive()
    }
}

/// Why a data folder could not be locked or inspected.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process holds it.
    #[error(
        "{}: is in use by process {}{}",
        path.display(),
        holder.pid,
        holder.api.as_ref().map(|api| format!(", which answers at {api}")).unwrap_or_default()
    )]
    Held {
        /// The folder.
        path: PathBuf,
        /// The process that holds it.
        holder: Holder,
    },
    /// The folder does not exist and cannot be created.
    #[error("{}: cannot be created: {cause}", path.display())]
    Unmakeable {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The folder or its lock file cannot be used.
    #[error("{}: {cause}", path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
}

impl DataFolder {
    /// Locks a folder, creating it if it is missing. Blocks for at most 200 ms.
    ///
    /// # Errors
    /// [`FolderError::Held`] with the process that holds it; [`FolderError::Unmakeable`] when it is
    /// missing and cannot be created.
    #[expect(
        clippy::disallowed_methods,
        reason = "start-up locks on a thread that may block, and waits at most 0.2 s"
    )]
    pub fn lock(path: &Path, api: Option<&str>) -> Result<Self, FolderError> {
        let unusable = |cause| FolderError::Unusable { path: path.to_owned(), cause };
        create_folder(path)
            .map_err(|cause| FolderError::Unmakeable { path: path.to_owned(), cause })?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path.join(LOCK)).map_err(unusable)?;
        let mut tries = 1;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let holder = note(&file).map_err(unusable)?;
                    return Err(FolderError::Held { path: path.to_owned(), holder });
                }
                Err(TryLockError::Error(cause)) => return Err(unusable(cause)),
            }
            tries += 1;
        }
        let folder = Self { path: path.to_owned(), lock: file };
        folder.announce(api, None)?;
        Ok(folder)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes the origin of this process's REST API, and a key to it. Only the user of this process can read them.
    ///
    /// # Errors
    /// [`FolderError::Unusable`] when the lock file cannot be written.
    pub fn announce(&self, api: Option<&str>, key: Option<&str>) -> Result<(), FolderError> {
        let holder = Holder {
            pid: std::process::id(),
            api: api.map(str::to_owned),
            key: key.map(str::to_owned),
        };
        let write = || {
            // One write that ends with a line break; a longer old content is truncated afterwards.
            let mut line = serde_json::to_vec(&holder)?;
            line.push(b'\n');
            let mut file = &self.lock;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&line)?;
            file.set_len(line.len() as u64)
        };
        write().map_err(|cause| FolderError::Unusable { path: self.path.clone(), cause })
    }

    /// The current holder of a folder; `None` if there is none. Blocks for at most 200 ms.
    ///
    /// # Errors
    /// [`FolderError::Unusable`] when the lock file cannot be read.
    pub fn holder(path: &Path) -> Result<Option<Holder>, FolderError> {
        let unusable = |cause| FolderError::Unusable { path: path.to_owned(), cause };
        let file = match File::open(path.join(LOCK)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(error)),
        };
        // A shared lock, so that two processes that look up the holder do not mistake each other
        // for it.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => note(&file).map(Some).map_err(unusable),
            Err(TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}

/// Reads the holder's note, waiting for a holder that is still writing it.
#[expect(
    clippy::disallowed_methods,
    reason = "runs on start-up's blocking threads, or alone in a command; waits at most 0.2 s"
)]
fn note(mut file: &File) -> io::Result<Holder> {
    let mut tries = 1;
    loop {
        let mut text = String::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(MAX_NOTE).read_to_string(&mut text)?;
        match serde_json::from_str(text.lines().next().unwrap_or_default()) {
            Ok(holder) => return Ok(holder),
            Err(_) if tries < TRIES => thread::sleep(PAUSE),
            Err(_) => {
                return Err(io::Error::other(
                    "in use, but its lock file does not name the process",
                ));
            }
        }
        tries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_learns_the_holder_and_its_api() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        assert_eq!(DataFolder::holder(&path).unwrap(), None);
        let folder =
            DataFolder::lock(&path, Some("http://127.0.0.1:8080/with/a/long/path")).unwrap();
        folder.announce(Some("http://127.0.0.1:1"), Some("mgk_x")).unwrap();
        let (api, key) = (Some("http://127.0.0.1:1".into()), Some("mgk_x".into()));
        let holder = Holder { pid: std::process::id(), api, key };
        assert!(!format!("{holder:?}").contains("mgk_x"));
        assert_eq!(DataFolder::holder(&path).unwrap(), Some(holder));
        let error = DataFolder::lock(&path, None).unwrap_err().to_string();
        let wanted = format!(
            "in use by process {}, which answers at http://127.0.0.1:1",
            std::process::id()
        );
        assert!(error.contains(&wanted), "{error}");
    }

    #[test]
    fn a_folder_is_unlocked_when_its_holder_is_gone() {
        let root = tempfile::tempdir().unwrap();
        drop(DataFolder::lock(root.path(), Some("http://127.0.0.1:8080")).unwrap());
        assert_eq!(DataFolder::holder(root.path()).unwrap(), None);
        drop(DataFolder::lock(root.path(), None).unwrap());
    }

    #[test]
    fn an_error_names_a_folder_that_cannot_be_created() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("file"), "x").unwrap();
        let error = DataFolder::lock(&root.path().join("file/data"), None).unwrap_err().to_string();
        assert!(error.contains("file/data: "), "{error}");
    }
}
