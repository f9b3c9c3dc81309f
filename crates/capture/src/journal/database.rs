//! The journal's file: turns and jobs are written, removed and read here, each in one transaction.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::Connection;

use crate::{
    journal::{
        entry::{Entry, Forgotten},
        forget::{self, Forget},
        jobs::{self, ClaimedJob},
        orders,
        record::{self, Recorded},
        schema,
        sessions::{self, Ended},
    },
    settings::Rules,
};
use memgate_core::{clock::Clock, memory::Owner};
use memgate_sqlite::{Database, DatabaseError, Options};

/// The journal.
pub(crate) struct Journal {
    database: Database,
    clock: Clock,
}

type Result<T> = std::result::Result<T, DatabaseError>;

impl Journal {
    /// Opens or creates the journal. Blocks.
    pub(crate) fn open(file: &Path, options: Options, clock: Clock) -> Result<Self> {
        Ok(Self { database: Database::open(file, schema::MIGRATIONS, options)?, clock })
    }

    /// The current time, as journal and stores keep it: they cut to milliseconds or microseconds.
    pub(crate) fn now(&self) -> Timestamp {
        let now = self.clock.now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    /// The clock that tells when jobs are due.
    pub(crate) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Writes screened turns and the jobs they owe, all or none, but for those that
    /// are not `wanted` any more when it is their turn to be written.
    pub(crate) async fn record(
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
    pub(crate) async fn end_session(
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
    pub(crate) async fn end_all(&self, owner: Owner, rules: Rules, now: Timestamp) -> Result<u64> {
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
    pub(crate) async fn to_forget(
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
    pub(crate) async fn forget(&self, owner: Owner, what: Forget) -> Result<u64> {
        self.forget_all(owner, vec![what]).await
    }

    /// Removes everything of an owner who had no turn after `active`.
    pub(crate) async fn forget_quiet(&self, owner: Owner, active: Timestamp) -> Result<u64> {
        let now = self.now();
        self.database
            .erase(move |c| match sessions::is_quiet_since(c, &owner, active)? {
                true => forget::remove(c, &owner, &Forget::Everything, now),
                false => Ok(0),
            })
            .await
    }

    /// Forgets several at once.
    pub(crate) async fn forget_all(&self, owner: Owner, what: Vec<Forget>) -> Result<u64> {
        let now = self.now();
        self.database
            .erase(move |c| what.iter().map(|what| forget::remove(c, &owner, what, now)).sum())
            .await
    }

    /// A forgetting that a user asked for is done; nothing of it stays on the disk.
    pub(crate) async fn fulfilled(&self, job: ClaimedJob) -> Result<()> {
        self.database.erase(move |c| orders::fulfilled(c, &job)).await
    }

    /// Takes what was removed before out of the log as well.
    pub(crate) async fn wipe(&self) -> Result<()> {
        self.database.erase(|_| Ok(())).await
    }

    /// Reads on a thread that may block.
    pub(crate) async fn read<T, F>(&self, job: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.read(move |c| job(c)).await
    }

    /// Changes something in one transaction.
    pub(crate) async fn write<T, F>(&self, job: F) -> Result<T>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.write(move |c| job(c)).await
    }

    /// Whether a write works now: one that changes nothing but is a write.
    pub(crate) async fn check(&self) -> Result<()> {
        self.database
            .write(|c| {
                let version: i64 = c.pragma_query_value(None, "user_version", |row| row.get(0))?;
                c.pragma_update(None, "user_version", version)
            })
            .await
    }

    pub(crate) async fn close(&self) {
        self.database.close().await;
    }
}
