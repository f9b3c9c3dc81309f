//! Opens connections with the settings that memgate relies on.

use std::{fs, io, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

use crate::{error::DatabaseError, options::Options};

/// How long a connection waits for a lock. Only another program (a backup, the sqlite3 shell) can
/// hold one: memgate itself has a single writer.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of one connection in KiB. The operating system caches the file too, so this only
/// avoids copying hot index pages.
const CACHE_KIB: i64 = 4096;

/// Size to which a log file is truncated after a checkpoint, in bytes.
const JOURNAL_SIZE_LIMIT: i64 = 16 * 1024 * 1024;

/// Number of prepared statements cached per connection.
const STATEMENTS: usize = 128;

const CANNOT_OPEN: rusqlite::ffi::Error = rusqlite::ffi::Error {
    code: rusqlite::ErrorCode::CannotOpen,
    extended_code: rusqlite::ffi::SQLITE_CANTOPEN,
};

/// Opens the writing connection; creates the file if it is missing.
pub(super) fn open_writer(file: &Path, options: Options) -> Result<Connection, DatabaseError> {
    create(file).map_err(|error| DatabaseError::Unopenable {
        file: file.to_owned(),
        cause: error.to_string(),
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(file, flags, options, |connection| {
        // "Not a database" is reported here, before anything else.
        let mode: String =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
        if mode != "wal" {
            let why = "its file system does not support write-ahead logging".to_owned();
            return Err(rusqlite::Error::SqliteFailure(CANNOT_OPEN, Some(why)));
        }
        connection.pragma_update(None, "synchronous", options.synchronous.pragma())?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "secure_delete", true)?;
        connection.pragma_update(None, "journal_size_limit", JOURNAL_SIZE_LIMIT)
    })
}

/// Opens a read-only connection.
pub(super) fn open_reader(file: &Path, options: Options) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(file, flags, options, |connection| connection.pragma_update(None, "query_only", true))
}

fn open(
    file: &Path,
    flags: OpenFlags,
    options: Options,
    set: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<Connection, DatabaseError> {
    let opened = Connection::open_with_flags(file, flags).and_then(|connection| {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        set(&connection)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Mapped pages would count as memory of the process, without a bound.
        connection.pragma_update(None, "mmap_size", 0)?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        (options.prepare)(&connection)?;
        Ok(connection)
    });
    opened.map_err(|error| DatabaseError::from_sqlite(file, error))
}

/// Creates the folder and the file, readable by the owner only: they contain what users said.
/// SQLite gives its side files the same permissions.
fn create(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        create_folder(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Creates a folder and its parents, readable by the owner only.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
