//! The writing thread: commits waiting jobs in groups, so that they share the cost of durability.

use std::{fs::File, path::Path, sync::Arc, time::Duration};

use rusqlite::Connection;

use crate::{
    DatabaseError,
    connection::BUSY_TIMEOUT,
    job::Job,
    queue::{Queue, Taken},
    scrub::Lap,
};

/// Maximum number of jobs per commit; bounds the waiting time of the first one.
const GROUP: usize = 256;

/// How long an erasure waits for readers of an older snapshot.
const ERASE_PATIENCE: Duration = Duration::from_millis(250);

/// Pause before cleaning the log again after readers prevented it.
const ERASE_RETRY: Duration = Duration::from_millis(500);

/// Maximum number of bytes scrubbed at a time. A smaller file is clean when an erasure is answered;
/// of a larger one this much is cleaned every [`ERASE_RETRY`].
const SCRUB: u64 = 64 << 20;

pub(super) struct Writer {
    pub(super) file: Arc<Path>,
    pub(super) connection: Connection,
    /// The raw file. Declared after the connection, so that it is closed later: closing it drops
    /// all locks of this process on the file.
    pub(super) bytes: File,
    /// The current scrubbing pass.
    pub(super) lap: Lap,
    pub(super) queue: Arc<Queue<Box<dyn Job>>>,
}

impl Writer {
    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self) {
        let mut erase_owed = false;
        loop {
            let patience = erase_owed.then_some(ERASE_RETRY);
            match self.queue.take(GROUP, patience) {
                Taken::Items(jobs) => erase_owed = self.group(jobs, erase_owed),
                Taken::Nothing => erase_owed = !self.clean(),
                Taken::Ended => break,
            }
        }
        // After a clean shutdown the main file alone is a complete copy.
        self.clean_log();
        if erase_owed {
            self.clean();
        }
    }

    /// Runs jobs in one transaction, each in its own savepoint, and answers them once it is
    /// committed. Returns whether the log still contains erased bytes.
    fn group(&mut self, jobs: Vec<Box<dyn Job>>, erase_owed: bool) -> bool {
        let mut done: Vec<Box<dyn Job>> = Vec::with_capacity(jobs.len());
        for mut job in jobs {
            if self.connection.is_autocommit()
                && let Err(error) = self.connection.execute_batch("BEGIN IMMEDIATE")
            {
                job.answer(Some(self.error(error)));
                continue;
            }
            match in_savepoint(&self.file, &mut self.connection, job.as_mut()) {
                Ok(()) => done.push(job),
                Err(Undone::Job(error)) => job.answer(Some(error)),
                Err(Undone::Group(error)) => {
                    for earlier in done.drain(..) {
                        earlier.answer(Some(error.clone()));
                    }
                    job.answer(Some(error));
                }
            }
        }
        let committed = self.commit();
        let mut owed = erase_owed;
        if committed.is_ok() && done.iter().any(|job| job.erases()) {
            self.lap.restart();
            owed = !self.clean();
        }
        for job in done {
            job.answer(committed.clone().err());
        }
        owed
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.execute_batch("COMMIT").map_err(|error| {
            if !self.connection.is_autocommit() {
                // Fails only if SQLite has already rolled back.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            self.error(error)
        })
    }

    /// Removes deleted bytes from the log and, as far as one pass reaches, from unused parts of the
    /// file. Returns false if work remains.
    fn clean(&mut self) -> bool {
        self.clean_log() && self.scrub() && self.lap.is_over()
    }

    /// Scrubs a part of the file while the log is empty. Returns false on failure.
    fn scrub(&mut self) -> bool {
        let connection = &self.connection;
        let mut scrub = || -> Result<(), Box<dyn std::error::Error>> {
            // Cached pages would be written back unchanged.
            connection.execute_batch("PRAGMA shrink_memory; BEGIN IMMEDIATE")?;
            let scrubbed = self.lap.go_on(&self.bytes, SCRUB);
            connection.execute_batch("ROLLBACK")?;
            Ok(scrubbed?)
        };
        scrub()
            .inspect_err(|error| {
                tracing::warn!(%error, "scrubbing the database file failed; retrying");
            })
            .is_ok()
    }

    /// Moves the log into the main file and truncates it, so that deleted bytes are in neither.
    /// Returns false if a reader prevented it.
    fn clean_log(&self) -> bool {
        let checkpoint = || {
            self.connection.busy_timeout(ERASE_PATIENCE)?;
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            let busy = self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
            self.connection.busy_timeout(BUSY_TIMEOUT)?;
            busy
        };
        match checkpoint() {
            Ok(busy) => busy == 0,
            Err(error) => {
                tracing::warn!(%error, "truncating the database log failed; retrying");
                false
            }
        }
    }

    fn error(&self, error: rusqlite::Error) -> DatabaseError {
        DatabaseError::from_sqlite(&self.file, error)
    }
}

/// The extent of a failure.
enum Undone {
    /// Only the job is undone.
    Job(DatabaseError),
    /// The whole transaction is undone: SQLite gives it up when the disk is full or failing.
    Group(DatabaseError),
}

/// Runs a job so that its failure undoes, if possible, only its own work.
fn in_savepoint(file: &Path, connection: &mut Connection, job: &mut dyn Job) -> Result<(), Undone> {
    let engine = |error| DatabaseError::from_sqlite(file, error);
    let step = |connection: &Connection, sql| {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]))
            .map_err(engine)
    };
    step(connection, "SAVEPOINT job").map_err(Undone::Job)?;
    let ran = job.run(connection);
    if connection.is_autocommit() {
        let cause = ran.err().unwrap_or(DatabaseError::Closed { file: file.to_owned() });
        return Err(Undone::Group(cause));
    }
    let mut ended = Ok(0);
    if ran.is_err() {
        ended = step(connection, "ROLLBACK TO job");
    }
    ended = ended.and_then(|_| step(connection, "RELEASE job"));
    if let Err(error) = ended {
        // A part of the job may remain, so nothing may be committed with it.
        let _ = connection.execute_batch("ROLLBACK");
        return Err(Undone::Group(error));
    }
    ran.map_err(Undone::Job)
}
