//! One process a data folder: the lock, and how others learn who holds it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::connection::create_folder;

/// The lock file's name within the folder.
const LOCK: &str = "memgate.lock";

/// Whoever only asks for the holder has the lock for a moment; whoever takes it
/// needs a moment to write who it is. Both are waited out, this often …
const TRIES: u32 = 10;
/// … and this long each time.
const PAUSE: Duration = Duration::from_millis(20);

/// Longest lock file that is read, in bytes.
const MAX_NOTE: u64 = 4096;

/// A data folder that is this process's alone until dropped. The lock is the
/// operating system's, so it also ends when the process is killed.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    lock: File,
}

/// The process that has a data folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Where its REST API listens, as an origin; unknown for a short-lived command.
    pub api: Option<String>,
}

/// Why a data folder could not be had, or asked.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another process has it.
    #[error(
        "{}: is in use by process {}{}",
        path.display(),
        holder.pid,
        holder.api.as_ref().map(|api| format!(", which answers at {api}")).unwrap_or_default()
    )]
    Held {
        /// The folder.
        path: PathBuf,
        /// Who has it.
        holder: Holder,
    },
    /// There is no such folder, and it cannot be made.
    #[error("{}: cannot be made: {cause}", path.display())]
    Unmakeable {
        /// The folder.
        path: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The folder or its lock file cannot be used.
    #[error("{}: {cause}", path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },
}

impl DataFolder {
    /// Takes a folder, making it when it is missing. Blocks for at most a
    /// fifth of a second.
    ///
    /// # Errors
    /// [`FolderError::Held`] names the process that has it; [`FolderError::Unmakeable`] when it is
    /// missing and cannot be made.
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
        folder.announce(api)?;
        Ok(folder)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells other processes where this one's REST API answers, once known.
    ///
    /// # Errors
    /// [`FolderError::Unusable`] when the lock file cannot be written.
    pub fn announce(&self, api: Option<&str>) -> Result<(), FolderError> {
        let holder = Holder { pid: std::process::id(), api: api.map(str::to_owned) };
        let write = || {
            // One write, and a line end: what stood there before, and is
            // longer, is cut off after it is no longer needed.
            let mut line = serde_json::to_vec(&holder)?;
            line.push(b'\n');
            let mut file = &self.lock;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&line)?;
            file.set_len(line.len() as u64)
        };
        write().map_err(|cause| FolderError::Unusable { path: self.path.clone(), cause })
    }

    /// Who has a folder now; `None` when nobody does. Blocks for at most a
    /// fifth of a second.
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
        // Shared, so that two askers do not take each other for a holder.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => note(&file).map(Some).map_err(unusable),
            Err(TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}

/// Reads who holds the lock, waiting for a holder that is just writing it.
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
                return Err(io::Error::other("in use, but its lock file does not say by whom"));
            }
        }
        tries += 1;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_learns_who_holds_the_folder_and_where_it_answers() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b");
        assert_eq!(DataFolder::holder(&path).unwrap(), None);
        let folder =
            DataFolder::lock(&path, Some("http://127.0.0.1:8080/with/a/long/path")).unwrap();
        folder.announce(Some("http://127.0.0.1:1")).unwrap();
        let holder = Holder { pid: std::process::id(), api: Some("http://127.0.0.1:1".into()) };
        assert_eq!(DataFolder::holder(&path).unwrap(), Some(holder));
        let error = DataFolder::lock(&path, None).unwrap_err().to_string();
        let wanted = format!(
            "in use by process {}, which answers at http://127.0.0.1:1",
            std::process::id()
        );
        assert!(error.contains(&wanted), "{error}");
    }

    #[test]
    fn a_folder_is_free_again_once_its_holder_is_gone() {
        let root = tempfile::tempdir().unwrap();
        drop(DataFolder::lock(root.path(), Some("http://127.0.0.1:8080")).unwrap());
        assert_eq!(DataFolder::holder(root.path()).unwrap(), None);
        drop(DataFolder::lock(root.path(), None).unwrap());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("file"), "x").unwrap();
        let error = DataFolder::lock(&root.path().join("file/data"), None).unwrap_err().to_string();
        assert!(error.contains("file/data: "), "{error}");
    }
}
