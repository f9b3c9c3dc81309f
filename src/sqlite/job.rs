//! A unit of work for a database thread, and the way its answer takes back.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::DatabaseError;

/// Work whose answer waits until the transaction around it has ended.
pub(super) trait Job: Send {
    /// Does the work. An error means that none of it is to be kept.
    fn run(&mut self, connection: &mut Connection) -> Result<(), DatabaseError>;

    /// Answers the caller: with the job's own result, or with why it does not stand.
    fn answer(self: Box<Self>, undone: Option<DatabaseError>);

    /// Whether nobody waits for the answer any more.
    fn abandoned(&self) -> bool;

    /// Whether deleted bytes must leave the disk before the answer.
    fn erases(&self) -> bool;
}

/// A closure as a [`Job`].
pub(super) struct Task<F, T> {
    file: Arc<Path>,
    erases: bool,
    /// Taken when the work runs.
    work: Option<F>,
    /// `None` until the work has run.
    outcome: Option<Result<T, DatabaseError>>,
    answer: oneshot::Sender<Result<T, DatabaseError>>,
}

/// Where the answer arrives.
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
        // The connection is safe to go on with: the caller undoes the savepoint.
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
