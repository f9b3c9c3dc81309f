//! Which job runs next, and how much is owed.
//!
//! The table `lanes` holds when the first job of each lane is due, so that a lane's other jobs cost
//! nothing here.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::journal::{
    columns::{millis, owner, time},
    jobs::{kind::JobKind, queue::ClaimedJob},
};

/// Which jobs may run now.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    /// The busy lanes, as a JSON array.
    pub(crate) busy: String,
    /// Whether one more extraction may run.
    pub(crate) extractions: bool,
    /// Whether one more job of another kind may run.
    pub(crate) others: bool,
}

/// The jobs that are owed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owed {
    pub(crate) pending: u64,
    /// Dead jobs by the name of their kind.
    pub(crate) dead: Vec<(String, u64)>,
    /// When the first pending one is, or was, due.
    pub(crate) first_due: Option<Timestamp>,
}

/// The job that is due for longest among those that may run now.
pub(crate) fn next_due(
    c: &Connection,
    room: &Room,
    now: Timestamp,
) -> rusqlite::Result<Option<ClaimedJob>> {
    match first_lane(c, room, now)? {
        Some((due, lane)) if due <= millis(now) => c
            .prepare_cached(
                "SELECT id, kind, subject, tenant, user, lane, payload, tries, wanted, created_at
                 FROM jobs WHERE lane = ?1 AND state = 'pending' ORDER BY due_at, id LIMIT 1",
            )?
            .query_row([lane], claimed)
            .optional(),
        _ => Ok(None),
    }
}

/// When the next job that may run is due.
pub(crate) fn next_time(
    c: &Connection,
    room: &Room,
    now: Timestamp,
) -> rusqlite::Result<Option<Timestamp>> {
    first_lane(c, room, now)?.map(|(due, _)| time(due)).transpose()
}

/// The lane with room whose first job is due first, and when. A summary waits until nothing that is
/// due runs in its owner's other lane: it leaves out what the memories of its turns say no longer,
/// so its words would depend on which of them are stored already.
fn first_lane(
    c: &Connection,
    room: &Room,
    now: Timestamp,
) -> rusqlite::Result<Option<(i64, String)>> {
    let mut first = None;
    for (extractions, has_room) in [(true, room.extractions), (false, room.others)] {
        if has_room {
            let lane = c
                .prepare_cached(
                    "SELECT due_at, lane FROM lanes AS first WHERE extractions = ?1
                       AND lane NOT IN (SELECT value FROM json_each(?2))
                       AND NOT (extractions
                         AND (SELECT kind FROM jobs WHERE jobs.lane = first.lane
                                AND state = 'pending' ORDER BY due_at, id LIMIT 1) = 'summarise'
                         AND substr(lane, length('extract//') + 1) IN (
                           SELECT value FROM json_each(?2)
                           UNION SELECT lane FROM lanes AS other
                             WHERE other.lane = substr(first.lane, length('extract//') + 1)
                               AND other.due_at <= ?3))
                     ORDER BY due_at, lane LIMIT 1",
                )?
                .query_row(params![extractions, room.busy, millis(now)], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?;
            first = first.into_iter().chain(lane).min();
        }
    }
    Ok(first)
}

fn claimed(row: &Row<'_>) -> rusqlite::Result<ClaimedJob> {
    let kind: String = row.get(1)?;
    let kind = JobKind::of(&kind).ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let (tenant, user): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
    Ok(ClaimedJob {
        id: row.get(0)?,
        kind,
        subject: row.get(2)?,
        owner: tenant.zip(user).map(|(tenant, user)| owner(&tenant, &user)).transpose()?,
        lane: row.get(5)?,
        payload: row.get(6)?,
        tries: row.get(7)?,
        wanted: row.get(8)?,
        since: time(row.get(9)?)?,
    })
}

/// How much is owed. Both counts come from indexes alone.
pub(crate) fn owed(c: &Connection) -> rusqlite::Result<Owed> {
    let pending = c
        .prepare_cached("SELECT count(*) FROM jobs WHERE state = 'pending'")?
        .query_row([], |row| row.get::<_, i64>(0))?;
    let dead = c
        .prepare_cached("SELECT kind, count(*) FROM jobs WHERE state = 'dead' GROUP BY kind")?
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
        .collect::<rusqlite::Result<_>>()?;
    let room = Room { busy: "[]".to_owned(), extractions: true, others: true };
    Ok(Owed {
        pending: pending.unsigned_abs(),
        dead,
        first_due: next_time(c, &room, Timestamp::MIN)?,
    })
}
