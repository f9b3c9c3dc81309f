//! The rows of the file: one for each request and each turn.

use jiff::Timestamp;
use memgate_core::memory::Owner;
use memgate_sqlite::Migration;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Serialize, de::DeserializeOwned};

use crate::ring::Record;

/// Records that an id may mean, of different owners.
const OF_ID: i64 = 64;

/// A record that a file can keep. Words of the user are in its member `query` and nowhere else.
pub trait Stored: Record + Serialize + DeserializeOwned + Send + 'static {
    /// Its kind, as the file names it.
    const KIND: &'static str;
    /// When it began.
    fn at(&self) -> Timestamp;
    /// This record of a request or turn together with a newer one.
    #[must_use]
    fn join(self, newer: Self) -> Self;
}

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    name: "trail",
    sql: "
-- `record` is JSON. `id` and `other` are the ids by which a record can be looked up. Times are milliseconds since 1970.
CREATE TABLE record (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    id TEXT,
    other TEXT,
    at INTEGER NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX record_of_owner ON record (tenant, user, kind, number);
CREATE INDEX record_by_id ON record (id) WHERE id IS NOT NULL;
CREATE INDEX record_by_other ON record (other) WHERE other IS NOT NULL;
CREATE INDEX record_by_time ON record (at);
",
}];

/// A record as it waits to be written.
pub(crate) struct Entry {
    kind: &'static str,
    owner: Owner,
    ids: [Option<String>; 2],
    at: i64,
    record: String,
    /// The record in the file together with this one.
    join: fn(&str, &str) -> Option<String>,
}

impl Entry {
    /// `None` where the record cannot be written as JSON.
    pub(crate) fn of<T: Stored>(record: &T) -> Option<Self> {
        Some(Self {
            kind: T::KIND,
            owner: record.owner().clone(),
            ids: record.ids().map(|id| id.map(str::to_owned)),
            at: record.at().as_millisecond(),
            record: serde_json::to_string(record).ok()?,
            join: |older, newer| {
                let [older, newer]: [T; 2] =
                    [serde_json::from_str(older).ok()?, serde_json::from_str(newer).ok()?];
                serde_json::to_string(&older.join(newer)).ok()
            },
        })
    }
}

/// Writes a record, or adds it to the one of the same request or turn, and removes the owner's oldest beyond the bound.
pub(crate) fn keep(c: &Connection, entry: &Entry, per_owner: usize) -> rusqlite::Result<()> {
    let Entry { kind, owner, ids: [id, other], at, record, join } = entry;
    let (tenant, user) = (owner.tenant(), owner.name());
    let known: Option<(i64, String)> = c
        .prepare_cached(
            "SELECT number, record FROM record WHERE tenant = ?1 AND user = ?2 AND kind = ?3
                 AND (id = ?4 OR other = ?5) ORDER BY number DESC LIMIT 1",
        )?
        .query_row(params![tenant, user, kind, id, other], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((number, older)) = known {
        let joined = join(&older, record).unwrap_or_else(|| record.clone());
        c.prepare_cached(
            "UPDATE record SET id = coalesce(?2, id), other = coalesce(?3, other), record = ?4
             WHERE number = ?1",
        )?
        .execute(params![number, id, other, joined])?;
        return Ok(());
    }
    c.prepare_cached(
        "INSERT INTO record (kind, tenant, user, id, other, at, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![kind, tenant, user, id, other, at, record])?;
    c.prepare_cached(
        "DELETE FROM record WHERE tenant = ?1 AND user = ?2 AND kind = ?3 AND number <= (
             SELECT number FROM record WHERE tenant = ?1 AND user = ?2 AND kind = ?3
             ORDER BY number DESC LIMIT 1 OFFSET ?4)",
    )?
    .execute(params![tenant, user, kind, rows(per_owner)])?;
    Ok(())
}

/// The records of an id since a time, the newest first.
pub(crate) fn of_id<T: Stored>(
    c: &Connection,
    id: &str,
    since: Timestamp,
) -> rusqlite::Result<Vec<T>> {
    let sql = "SELECT record FROM record WHERE (id = ?1 OR other = ?1) AND kind = ?2 AND at >= ?3
               ORDER BY number DESC LIMIT ?4";
    read(c, sql, params![id, T::KIND, since.as_millisecond(), OF_ID])
}

/// The records of an owner since a time, the newest first.
pub(crate) fn of_owner<T: Stored>(
    c: &Connection,
    owner: &Owner,
    most: usize,
    since: Timestamp,
) -> rusqlite::Result<Vec<T>> {
    let sql = "SELECT record FROM record WHERE tenant = ?1 AND user = ?2 AND kind = ?3 AND at >= ?4
               ORDER BY number DESC LIMIT ?5";
    let since = since.as_millisecond();
    read(c, sql, params![owner.tenant(), owner.name(), T::KIND, since, rows(most)])
}

/// A number of rows as SQLite takes it.
fn rows(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads records; one that another version has written and that cannot be read is passed over.
fn read<T: Stored>(
    c: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<T>> {
    let mut found = c.prepare_cached(sql)?;
    let found = found.query_map(values, |row| row.get::<_, String>(0))?;
    let read = found.map(|row| row.map(|record| serde_json::from_str(&record).ok()));
    read.filter_map(Result::transpose).collect()
}

/// Removes the words in an owner's records.
pub(crate) fn drop_words(c: &Connection, owner: &Owner) -> rusqlite::Result<()> {
    c.prepare_cached(
        "UPDATE record SET record = json_remove(record, '$.query')
         WHERE tenant = ?1 AND user = ?2 AND record ->> '$.query' IS NOT NULL",
    )?
    .execute(params![owner.tenant(), owner.name()])?;
    Ok(())
}

/// Removes an owner's records.
pub(crate) fn erase(c: &Connection, owner: &Owner) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM record WHERE tenant = ?1 AND user = ?2")?
        .execute(params![owner.tenant(), owner.name()])?;
    Ok(())
}

/// Removes records from before a time.
pub(crate) fn expire(c: &Connection, since: Timestamp) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM record WHERE at < ?1")?.execute([since.as_millisecond()])?;
    Ok(())
}
