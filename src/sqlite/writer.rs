//! The writing thread: what waits in the queue is committed together, so that
//! the cost of making it durable is shared.

use std::{fs::File, path::Path, sync::Arc, time::Duration};

use rusqlite::Connection;

use super::{
    DatabaseError,
    connection::BUSY_TIMEOUT,
    job::Job,
    queue::{Queue, Taken},
    scrub::Lap,
};

/// Jobs committed together at most: bounds how long the first of them waits.
const GROUP: usize = 256;

/// How long an erasure waits for readers that still look at the old state.
const ERASE_PATIENCE: Duration = Duration::from_millis(250);

/// When to try again to clean the log, after readers were in the way.
const ERASE_RETRY: Duration = Duration::from_millis(500);

/// What is scrubbed in one go, in bytes of the file. A smaller file is clean when
/// an erasure is answered; of a larger one so much is cleaned every [`ERASE_RETRY`].
const SCRUB: u64 = 64 << 20;

pub(super) struct Writer {
    pub(super) file: Arc<Path>,
    pub(super) connection: Connection,
    /// The file itself. Stands after the connection and so is closed after it:
    /// closing it takes away all locks that this process has on the file.
    pub(super) bytes: File,
    /// What is still to be scrubbed.
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
        // Whoever copies the file after a clean end has everything in one file.
        self.clean_log();
        if erase_owed {
            self.clean();
        }
    }

    /// Runs jobs in one transaction, each in a savepoint of its own, and answers
    /// them once it is committed. Tells whether the log still holds erased bytes.
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
                // Fails only when SQLite has rolled back by itself.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            self.error(error)
        })
    }

    /// Takes what was deleted out of the log, and out of the unused parts of the
    /// file as far as is done in one go. False when something is left to do.
    fn clean(&mut self) -> bool {
        self.clean_log() && self.scrub() && self.lap.is_over()
    }

    /// Scrubs a part of the file, with the log empty. False when that failed.
    fn scrub(&mut self) -> bool {
        let connection = &self.connection;
        let mut scrub = || -> Result<(), Box<dyn std::error::Error>> {
            // Pages in memory would be written back as they were.
            connection.execute_batch("PRAGMA shrink_memory; BEGIN IMMEDIATE")?;
            let scrubbed = self.lap.go_on(&self.bytes, SCRUB);
            connection.execute_batch("ROLLBACK")?;
            Ok(scrubbed?)
        };
        scrub()
            .inspect_err(|error| {
                tracing::warn!(%error, "the database's file could not be cleaned; trying again");
            })
            .is_ok()
    }

    /// Moves the log into the main file and cuts it to nothing, so that what
    /// was deleted is in neither. False when a reader was in the way.
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
                tracing::warn!(%error, "the database's log could not be cleaned; trying again");
                false
            }
        }
    }

    fn error(&self, error: rusqlite::Error) -> DatabaseError {
        DatabaseError::from_sqlite(&self.file, error)
    }
}

/// How far a failure reaches.
enum Undone {
    /// Only the job's own work is undone.
    Job(DatabaseError),
    /// All of the transaction is undone: a full or failing disk makes SQLite
    /// give it up.
    Group(DatabaseError),
}

/// Runs a job so that its failure undoes, where possible, only its own work.
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
        // Half of the job may still stand, so nothing may be committed with it.
        let _ = connection.execute_batch("ROLLBACK");
        return Err(Undone::Group(error));
    }
    ran.map_err(Undone::Job)
}
