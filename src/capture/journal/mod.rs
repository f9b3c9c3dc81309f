//! The durable log of turns, and of the jobs they owe, in a file of its own.
//!
//! A turn and its jobs are written in one transaction: after a crash either
//! both are there or neither. It takes only screened entries. It must never
//! know what a memory is, nor how one is made of a turn.

mod chain;
mod due;
mod entry;
mod forget;
mod forgettings;
mod jobs;
mod ledger;
mod orders;
mod prune;
mod read;
mod record;
mod schema;
mod sessions;
mod summaries;
mod tools;
mod values;

#[cfg(test)]
mod tests;

use std::{path::Path, time::Duration};

use jiff::Timestamp;
use rusqlite::{Connection, types::FromSqlError};

use super::settings::SessionRules;
use crate::{
    memory::Owner,
    sqlite::{Database, DatabaseError, Options},
};

pub(super) use chain::{chain, of_session};
pub(super) use due::{Owed, Room, next_due, next_time, owed};
pub(super) use entry::{Entry, Removed};
pub use forget::Forget;
pub(super) use forget::Forgotten;
pub use forgettings::Forgetting;
pub(super) use forgettings::{
    Hidden, cancel as cancel_forgetting, erase_later, hidden_by, hidden_for,
    pending as pending_forgettings,
};
pub(super) use jobs::{
    ClaimedJob, JobKind, Next, Settled, ask_for_pruning, ask_for_vectors, lanes_of, of_owner,
    settle,
};
pub use ledger::{JobQuery, JobRow, JobStanding, SessionRow};
pub(super) use ledger::{list_jobs, list_sessions, retry, retry_dead};
pub(super) use orders::{ForgetOrder, has_to_forget, later_turns};
pub(super) use prune::{
    Pruned, dead_jobs as prune_dead_jobs, look as look_for_old_turns, turns as prune_turns,
};
pub(super) use read::{StoredTurn, batch, turn, turn_and_before, turns_until};
pub(super) use record::Recorded;
pub(super) use sessions::{Ended, Waits, end_if_idle, extract_before};
pub(super) use summaries::{never_sum_up, sum_up_again, to_sum_up};
pub use values::SessionState;

/// What decides which jobs a turn owes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Each turn becomes a memory of its own.
    pub(super) store_turns: bool,
    /// The statements in each turn become memories.
    pub(super) extract_locally: bool,
    /// Extract facts every so many turns; `None`: never.
    pub(super) extract_every: Option<u32>,
    /// When sessions end.
    pub(super) sessions: SessionRules,
}

impl Rules {
    /// When a session is idle that was last active at `active`, in milliseconds.
    fn idle_at(&self, active: i64) -> Timestamp {
        after(active, self.sessions.idle_timeout)
    }

    /// The same of a session that was left for a newer one.
    fn quiet_at(&self, active: i64) -> Timestamp {
        after(active, self.sessions.quiet_after.min(self.sessions.idle_timeout))
    }
}

/// So long after a time in milliseconds.
fn after(active: i64, pause: Duration) -> Timestamp {
    let active = Timestamp::from_millisecond(active).unwrap_or(Timestamp::MAX);
    active.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// The journal.
pub(super) struct Journal {
    database: Database,
}

type Result<T> = std::result::Result<T, DatabaseError>;

impl Journal {
    /// Opens or creates the journal. Blocks.
    pub(super) fn open(file: &Path, options: Options) -> Result<Self> {
        Ok(Self { database: Database::open(file, schema::MIGRATIONS, options)? })
    }

    /// Writes screened turns and the jobs they owe, all or none, but for those that
    /// are not `wanted` any more when it is their turn to be written.
    pub(super) async fn record(
        &self,
        entries: Vec<Entry>,
        rules: Rules,
        wanted: impl Fn(usize, &Entry) -> bool + Send + 'static,
    ) -> Result<Vec<Recorded>> {
        self.database
            .write(move |c| {
                let record = |(number, entry)| match wanted(number, entry) {
                    true => record::record(c, entry, &rules),
                    false => Ok(Recorded::Orphan),
                };
                entries.iter().enumerate().map(record).collect()
            })
            .await
    }

    /// Ends a session by name: what is open in it is complete, what is left to
    /// extract is owed. `None` when there is no such session.
    pub(super) async fn end_session(
        &self,
        owner: Owner,
        name: String,
        rules: Rules,
        now: Timestamp,
    ) -> Result<Option<Ended>> {
        self.database
            .write(move |c| match sessions::find(c, &owner, &name)? {
                Some(id) => sessions::end(c, id, &rules, now).map(Some),
                None => Ok(None),
            })
            .await
    }

    /// Ends all sessions of an owner and makes all their jobs due.
    pub(super) async fn end_all(&self, owner: Owner, rules: Rules, now: Timestamp) -> Result<u64> {
        self.database
            .write(move |c| {
                let running = sessions::running(c, &owner)?;
                for id in &running {
                    sessions::end(c, *id, &rules, now)?;
                }
                jobs::hurry(c, &owner, now)?;
                Ok(running.len() as u64)
            })
            .await
    }

    /// The single turns among what is to be forgotten.
    pub(super) async fn to_forget(
        &self,
        owner: &Owner,
        what: impl IntoIterator<Item = &Forget>,
    ) -> Result<Vec<Forgotten>> {
        let (owner, what) = (owner.clone(), what.into_iter().cloned().collect::<Vec<_>>());
        let found = move |c: &Connection| {
            what.iter().filter_map(|what| forget::by_key(c, &owner, what).transpose()).collect()
        };
        self.read(found).await
    }

    /// Removes turns and all that was made of them here; returns how many.
    pub(super) async fn forget(&self, owner: Owner, what: Forget) -> Result<u64> {
        self.forget_all(owner, vec![what]).await
    }

    /// The same of several at once.
    pub(super) async fn forget_all(&self, owner: Owner, what: Vec<Forget>) -> Result<u64> {
        let now = Timestamp::now();
        self.database
            .erase(move |c| what.iter().map(|what| forget::forget(c, &owner, what, now)).sum())
            .await
    }

    /// A forgetting that a user asked for is done; nothing of it stays on the disk.
    pub(super) async fn fulfilled(&self, job: ClaimedJob) -> Result<()> {
        self.database.erase(move |c| orders::fulfilled(c, &job)).await
    }

    /// Takes what was removed before out of the log as well.
    pub(super) async fn wipe(&self) -> Result<()> {
        self.database.erase(|_| Ok(())).await
    }

    /// Reads on a thread that may block.
    pub(super) async fn read<T, F>(&self, job: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.read(move |c| job(c)).await
    }

    /// Changes something in one transaction.
    pub(super) async fn write<T, F>(&self, job: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.write(move |c| job(c)).await
    }

    /// Whether a write works now: one that changes nothing but is a write.
    pub(super) async fn check(&self) -> Result<()> {
        self.database
            .write(|c| {
                let version: i64 = c.pragma_query_value(None, "user_version", |row| row.get(0))?;
                c.pragma_update(None, "user_version", version)
            })
            .await
    }

    pub(super) async fn close(&self) {
        self.database.close().await;
    }
}

/// A time as it stands in the tables.
fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// A time as it stood in the tables.
fn time(millis: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(millis).map_err(|error| corrupt(Box::new(error)))
}

/// An owner as it stood in the tables.
fn owner(tenant: &str, user: &str) -> rusqlite::Result<Owner> {
    Owner::new(tenant, user).map_err(|error| corrupt(Box::new(error)))
}

fn corrupt(error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    FromSqlError::Other(error).into()
}
