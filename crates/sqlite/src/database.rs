//! One database file with its threads and queues.

use std::{
    fs::File,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use crate::{
    connection::{open_reader, open_writer},
    error::DatabaseError,
    job::{Answer, Job, Task},
    migrate::{Migration, migrate},
    options::Options,
    queue::{Queue, Refused, Taken},
    scrub::Lap,
    writer::Writer,
};

/// An open database. Dropping it lets the threads finish the waiting jobs in the background;
/// [`Database::close`] waits for them.
pub struct Database {
    file: Arc<Path>,
    writes: Arc<Queue<Box<dyn Job>>>,
    reads: Arc<Queue<Box<dyn Job>>>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    readers: Vec<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
}

impl Database {
    /// Opens or creates a file and migrates its schema. Blocks: call it at start-up, or from a
    /// thread that may block.
    ///
    /// # Errors
    /// [`DatabaseError`] with what is wrong with the file or its folder.
    pub fn open(
        file: &Path,
        migrations: &[Migration],
        options: Options,
    ) -> Result<Self, DatabaseError> {
        let mut connection = open_writer(file, options)?;
        migrate(file, &mut connection, migrations)?;
        let bytes = File::options().read(true).write(true).open(file).map_err(|error| {
            DatabaseError::Unopenable { file: file.to_owned(), cause: error.to_string() }
        })?;
        let file: Arc<Path> = file.into();
        let database = Self {
            writes: Arc::new(Queue::new(options.queue.max(1))),
            reads: Arc::new(Queue::new(options.queue.max(1))),
            threads: Mutex::default(),
            file: file.clone(),
        };
        // From here on an error drops `database`, which stops the running threads.
        let writer = Writer {
            connection,
            bytes,
            lap: Lap::default(),
            queue: database.writes.clone(),
            file: file.clone(),
        };
        let mut threads = Threads {
            readers: Vec::new(),
            writer: Some(database.spawn("write", move || writer.run())?),
        };
        for _ in 0..options.readers.max(1) {
            let (file, queue) = (file.clone(), database.reads.clone());
            let connection = open_reader(&file, options)?;
            let work = move || read_until_closed(&file, connection, &queue);
            threads.readers.push(database.spawn("read", work)?);
        }
        *database.threads.lock().unwrap_or_else(PoisonError::into_inner) = threads;
        Ok(database)
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Runs a job that changes the database, and answers once it is committed. An error undoes
    /// everything the job did, but nothing of other jobs. The job runs inside a transaction: it may
    /// use savepoints, but not transactions.
    ///
    /// A queued job runs even if its caller has gone away.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] when the queue is full, else the job's error.
    pub async fn write<T, F>(&self, job: F) -> Result<T, DatabaseError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.wait(self.queue_write(false, job)?).await
    }

    /// As [`Database::write`], for deletions: answers once the deleted bytes are also removed from
    /// the log, and their copies from unused parts of the file. If a reader holds the log for
    /// longer than 250 ms, it answers earlier and cleans up within half a second after that reader
    /// has finished. The rest of a file larger than 64 MiB is cleaned in the background, 64 MiB in
    /// each half second without writes.
    ///
    /// # Errors
    /// As [`Database::write`].
    pub async fn erase<T, F>(&self, job: F) -> Result<T, DatabaseError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.wait(self.queue_write(true, job)?).await
    }

    /// Runs a job that reads one consistent state, including every write answered before. Skipped
    /// if its caller has gone away.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] when the queue is full, else the job's error.
    pub async fn read<T, F>(&self, job: F) -> Result<T, DatabaseError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (task, answer) = Task::new(self.file.clone(), false, job);
        self.put(&self.reads, "reads", task)?;
        self.wait(answer).await
    }

    /// Accepts no more jobs, finishes the waiting ones and stops the threads. The log is then in
    /// the main file. Closing twice is allowed.
    pub async fn close(&self) {
        self.reads.close();
        self.writes.close();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // The writer is closed last, so that no reader blocks the checkpoint.
        let joined = tokio::task::spawn_blocking(move || {
            threads.readers.into_iter().chain(threads.writer).all(|thread| thread.join().is_ok())
        });
        if !joined.await.unwrap_or(false) {
            tracing::error!("a database thread had panicked");
        }
    }

    fn queue_write<T, F>(&self, erases: bool, job: F) -> Result<Answer<T>, DatabaseError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (task, answer) = Task::new(self.file.clone(), erases, job);
        self.put(&self.writes, "writes", task)?;
        Ok(answer)
    }

    fn put(
        &self,
        queue: &Queue<Box<dyn Job>>,
        kind: &'static str,
        job: impl Job + 'static,
    ) -> Result<(), DatabaseError> {
        queue.put(Box::new(job)).map_err(|refused| match refused {
            Refused::Closed => self.closed(),
            Refused::Full => {
                DatabaseError::Busy { file: self.file.to_path_buf(), kind, bound: queue.bound() }
            }
        })
    }

    async fn wait<T>(&self, answer: Answer<T>) -> Result<T, DatabaseError> {
        answer.await.unwrap_or_else(|_| Err(self.closed()))
    }

    fn closed(&self) -> DatabaseError {
        DatabaseError::Closed { file: self.file.to_path_buf() }
    }

    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<JoinHandle<()>, DatabaseError> {
        thread::Builder::new().name(format!("sqlite-{name}")).spawn(work).map_err(|error| {
            DatabaseError::Unopenable { file: self.file.to_path_buf(), cause: error.to_string() }
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.reads.close();
        self.writes.close();
    }
}

/// The reading thread: each job sees one snapshot.
fn read_until_closed(file: &Path, mut connection: Connection, queue: &Queue<Box<dyn Job>>) {
    while let Taken::Items(jobs) = queue.take(1, None) {
        for mut job in jobs {
            if job.abandoned() {
                continue;
            }
            let begun = connection.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([]));
            if let Err(error) = begun {
                job.answer(Some(DatabaseError::from_sqlite(file, error)));
                continue;
            }
            // The caller gets the outcome with the answer.
            let _ = job.run(&mut connection);
            if !connection.is_autocommit() {
                // Nothing was written, so nothing can be lost.
                let _ = connection.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
            }
            job.answer(None);
        }
    }
}

#[cfg(test)]
mod tests;
