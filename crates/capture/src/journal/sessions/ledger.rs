//! Sessions as the API shows them.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::journal::columns::time;
use memgate_core::memory::Owner;

/// A session as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its place in the order that they are listed in.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// Complete turns so far, those that are gone from the journal included.
    pub turns: u32,
    /// When its first turn began.
    pub started_at: Timestamp,
    /// When its last turn ended.
    pub active_at: Timestamp,
    /// When it ended; `None` while it goes on.
    pub ended_at: Option<Timestamp>,
}

/// An owner's sessions, the one that began last first; only those before a place.
pub(crate) fn list_sessions(
    c: &Connection,
    owner: &Owner,
    before: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<SessionRow>> {
    c.prepare_cached(
        "SELECT id, name, turns, started_at, active_at, ended_at FROM sessions
         WHERE tenant = ?1 AND user = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4",
    )?
    .query_map(
        params![
            owner.tenant(),
            owner.user(),
            before.unwrap_or(i64::MAX),
            i64::try_from(limit).unwrap_or(i64::MAX)
        ],
        |row| {
            Ok(SessionRow {
                number: row.get(0)?,
                id: row.get(1)?,
                turns: row.get(2)?,
                started_at: time(row.get(3)?)?,
                active_at: time(row.get(4)?)?,
                ended_at: row.get::<_, Option<i64>>(5)?.map(time).transpose()?,
            })
        },
    )?
    .collect()
}
