//! A unit of work for a database thread, with a channel for its result.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::DatabaseError;

/// Work whose result is sent after the surrounding transaction has ended.
pub(super) trait Job: Send {
    /// Does the work. After an error none of it may be kept.
    fn run(&mut self, connection: &mut Connection) -> Result<(), DatabaseError>;

    /// Answers the caller with the job's own result, or with the reason why it was undone.
    fn answer(self: Box<Self>, undone: Option<DatabaseError>);

    /// Whether the caller has gone away.
    fn abandoned(&self) -> bool;

    /// Whether deleted bytes must leave the disk before the answer.
    fn erases(&self) -> bool;
}

/// A closure as a [`Job`].
pub(super) struct Task<F, T> {
    file: Arc<Path>,
    erases: bool,
    /// Taken when the job runs.
    work: Option<F>,
    /// `None` until the job has run.
    outcome: Option<Result<T, DatabaseError>>,
    answer: oneshot::Sender<Result<T, DatabaseError>>,
}

/// Receives the result.
pub(super) type Answer<T> = oneshot::Receiver<Result<T, DatabaseError>>;

impl<F, T> Task<F, T>
where
    F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send,
    T: Send,
{
    pub(super) fn new(file: Arc<Path>, erases: bool, work: F) -> (Self, Answer<T>) {
        let (answer, receiver) = oneshot::channel();
        let task = Self { file, erases, work: Some(work), outcome: None, answer };
        (task, receiver)
    }
}

impl<F, T> Job for Task<F, T>
where
    F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn run(&mut self, connection: &mut Connection) -> Result<(), DatabaseError> {
        let Some(work) = self.work.take() else { return Ok(()) };
        // The connection can be used further: the caller undoes the savepoint.
        let outcome = match catch_unwind(AssertUnwindSafe(|| work(connection))) {
            Ok(result) => result.map_err(|error| DatabaseError::from_sqlite(&self.file, error)),
            Err(_) => Err(DatabaseError::Panicked { file: self.file.to_path_buf() }),
        };
        let kept = outcome.as_ref().map(|_| ()).map_err(Clone::clone);
        self.outcome = Some(outcome);
        kept
    }

    fn answer(self: Box<Self>, undone: Option<DatabaseError>) {
        let result = match (self.outcome, undone) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(undone)) => Err(undone),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(DatabaseError::Closed { file: self.file.to_path_buf() }),
        };
        // A caller that has gone away does not need the answer.
        let _ = self.answer.send(result);
    }

    fn abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn erases(&self) -> bool {
        self.erases
    }
}
