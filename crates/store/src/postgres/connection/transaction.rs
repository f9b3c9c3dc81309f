//! A transaction for one owner. Row-level security shows it nothing of anybody else.
//!
//! Messages are pipelined: the begin and the owner travel with the first statement. Neither can
//! fail alone: without them, row-level security shows and accepts nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::Object;
use futures_util::FutureExt as _;
use tokio::time::timeout;
use tokio_postgres::{
    Error, Row,
    types::{ToSql, Type},
};

use crate::postgres::connection::{fault::Fault, pool::Pool};
use memgate_core::memory::Reader;

/// Stands for every owner: no owner has this key.
pub(crate) const EVERYBODY: &str = "*";

/// A parameter with its type.
pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// Access mode of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Reads, all of one snapshot.
    Read,
    /// Reads and writes. The first statement locks the owner, so later ones see what the last
    /// writer left.
    Write,
}

/// An open transaction.
pub(crate) struct Transaction {
    pool: Arc<Pool>,
    /// `None` once it is given back.
    connection: Option<Object>,
    /// Number of statements that were sent and not answered.
    running: AtomicU32,
}

impl Transaction {
    /// Begins a transaction for the owner of a partition key, or for [`EVERYBODY`].
    ///
    /// # Errors
    /// When there is no connection.
    pub(crate) async fn begin(pool: &Arc<Pool>, mode: Mode, whose: &str) -> Result<Self, Fault> {
        let connection = pool.get().await?;
        let begin = match mode {
            Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Mode::Write => "BEGIN ISOLATION LEVEL READ COMMITTED",
        };
        send(connection.batch_execute(begin));
        let transaction =
            Self { pool: pool.clone(), connection: Some(connection), running: AtomicU32::new(0) };
        transaction.act_for(whose)?;
        Ok(transaction)
    }

    /// Statements sent from now on are for this owner, or for [`EVERYBODY`].
    pub(crate) fn act_for(&self, whose: &str) -> Result<(), Fault> {
        let set = "SELECT set_config('memgate.owner', $1, true)";
        send(self.connection()?.execute_typed(set, &[(&whose, Type::TEXT)]));
        Ok(())
    }

    /// Statements sent from now on read what others share with this reader, and nothing of the reader's own.
    pub(crate) fn act_for_reader(&self, reader: &Reader) -> Result<(), Fault> {
        let set = "SELECT set_config('memgate.owner', $1, true), \
             set_config('memgate.reader', $2, true), set_config('memgate.roles', $3, true)";
        // No owner has such a key.
        let whose = format!("{}/%shared", reader.owner.tenant_key());
        let user = reader.owner.user().unwrap_or_default();
        let roles = serde_json::Value::from(reader.roles.clone()).to_string();
        let values: [Parameter<'_>; 3] =
            [(&whose, Type::TEXT), (&user, Type::TEXT), (&roles, Type::TEXT)];
        send(self.connection()?.execute_typed(set, &values));
        Ok(())
    }

    /// The rows of a statement whose text is fixed, so that the server can keep its plan.
    pub(crate) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        let connection = self.connection()?;
        self.answer(async {
            let statement = connection.prepare_cached(sql).await?;
            connection.query(&statement, values).await
        })
        .await
    }

    /// The first row of a statement whose text is fixed.
    pub(crate) async fn first(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, Fault> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// Executes a statement whose text is fixed; returns the number of rows.
    pub(crate) async fn execute(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Fault> {
        let connection = self.connection()?;
        self.answer(async {
            let statement = connection.prepare_cached(sql).await?;
            connection.execute(&statement, values).await
        })
        .await
    }

    /// The rows of a statement whose text depends on what is asked. It is not kept.
    pub(crate) async fn query_once(
        &self,
        sql: &str,
        values: &[Parameter<'_>],
    ) -> Result<Vec<Row>, Fault> {
        self.answer(self.connection()?.query_typed(sql, values)).await
    }

    /// Executes statements without parameters.
    pub(crate) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.answer(self.connection()?.batch_execute(sql)).await
    }

    /// Commits. A transaction in which a statement has failed is undone, without an error here: the
    /// caller has that statement's.
    pub(crate) async fn commit(mut self) -> Result<(), Fault> {
        self.batch("COMMIT").await?;
        self.connection = None;
        Ok(())
    }

    /// Ends a transaction that has changed nothing, or undoes it, without waiting.
    pub(crate) fn end(self) {
        drop(self);
    }

    fn connection(&self) -> Result<&Object, Fault> {
        self.connection.as_ref().ok_or(Fault::Closed)
    }

    /// Waits for an answer, within a bound.
    async fn answer<T>(&self, asked: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        self.running.fetch_add(1, Ordering::Relaxed);
        let patience: Duration = self.pool.patience();
        // On a timeout, and when the caller stops waiting, it counts as running.
        let answer = timeout(patience, asked).await.map_err(|_| Fault::Late)?;
        self.running.fetch_sub(1, Ordering::Relaxed);
        Ok(answer?)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.running.load(Ordering::Relaxed) == 0 {
            // The next user's statements follow this one.
            send(connection.batch_execute("ROLLBACK"));
        } else {
            self.pool.cancel(connection);
        }
    }
}

/// Sends a statement without waiting for its answer: the first poll puts it into the connection's
/// queue.
fn send<T>(statement: impl Future<Output = Result<T, Error>>) {
    drop(statement.now_or_never());
}
