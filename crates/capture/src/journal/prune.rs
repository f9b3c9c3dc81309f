//! Removing what was learnt and is old: turns, sessions that have none left, and
//! jobs that nobody has asked for again.
//!
//! A turn that is gone takes nothing else with it: a chain that leads to it ends
//! there, and what a session has counted stays counted.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{journal::columns::millis, settings::Retention};
use memgate_core::memory::Owner;

/// Turns that are looked at in one transaction.
const BATCH: u32 = 500;

/// Dead jobs that are removed in one transaction.
const DEAD_BATCH: u32 = 500;

/// The last turns of a session that goes on; they stay, however old: its next
/// extraction, and its summary, are made of them.
const RUNNING: u32 = 1024;

/// The number of rows that a step removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruned {
    pub(crate) turns: u64,
    pub(crate) sessions: u64,
    pub(crate) dead_jobs: u64,
}

impl Pruned {
    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            turns: self.turns + other.turns,
            sessions: self.sessions + other.sessions,
            dead_jobs: self.dead_jobs + other.dead_jobs,
        }
    }
}

/// Whether turn `t` of session `s` is learnt: it is old and complete, its session has ended or has
/// many turns after it, and its owner is owed nothing, but for the ends of sessions that are not
/// idle yet and for erasures. A dead job holds what it would need to be tried again, and nothing else.
const IS_DUE: &str = "t.ended_at <= ?2 AND t.state = 'complete'
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.tenant = t.tenant AND j.user = t.user
        AND j.kind NOT IN ('end_idle_session', 'erase_forgotten') AND (j.state <> 'dead' OR CASE
            WHEN j.kind IN ('extract', 'reconcile') THEN t.id <= j.subject
                AND json_valid(j.payload) AND j.payload ->> '$.session' = t.session
            WHEN j.kind = 'summarise' THEN j.subject = t.session
            ELSE j.subject = t.id END))
    AND (s.ended_at IS NOT NULL OR t.id < (SELECT id FROM turns
        WHERE session = t.session ORDER BY id DESC LIMIT 1 OFFSET ?3))";

/// Turns that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Those that are due.
    pub(crate) due: Vec<i64>,
    /// How many are old.
    pub(crate) old: u64,
    /// After which to go on; `None` at the end.
    pub(crate) next: Option<i64>,
}

/// Looks for turns that are due among those after one. A read, so that many which are held do
/// not keep anything else from being written.
pub(crate) fn look(
    c: &Connection,
    retention: &Retention,
    after: i64,
    now: Timestamp,
) -> rusqlite::Result<Look> {
    let mut query = c.prepare_cached(&format!(
        "SELECT t.id, t.ended_at <= ?2, {IS_DUE} FROM turns t JOIN sessions s ON s.id = t.session
         WHERE t.id > ?1 ORDER BY t.id LIMIT ?4"
    ))?;
    let mut rows = query.query(params![after, cut(now, retention.turns), RUNNING - 1, BATCH])?;
    let (mut look, mut count, mut last) = (Look::default(), 0, None);
    while let Some(row) = rows.next()? {
        let turn = row.get(0)?;
        look.old += u64::from(row.get::<_, bool>(1)?);
        // Unknown where a session that goes on has fewer turns than stay.
        if row.get::<_, Option<bool>>(2)?.unwrap_or(false) {
            look.due.push(turn);
        }
        (count, last) = (count + 1, Some(turn));
    }
    // Turns are numbered as they begin: after a batch without an old turn comes none that is old.
    look.next = last.filter(|_| count == BATCH && look.old > 0);
    Ok(look)
}

/// Removes those of these turns that are still due, and sessions that have none left.
pub(crate) fn turns(
    c: &Connection,
    retention: &Retention,
    due: &[i64],
    now: Timestamp,
) -> rusqlite::Result<Pruned> {
    let cut = cut(now, retention.turns);
    let mut pruned = Pruned::default();
    let mut remove = c.prepare_cached(&format!(
        "DELETE FROM turns WHERE id IN (
             SELECT t.id FROM turns t JOIN sessions s ON s.id = t.session
             WHERE t.id = ?1 AND {IS_DUE})
         RETURNING session"
    ))?;
    for turn in due {
        let session: Option<i64> =
            remove.query_row(params![turn, cut, RUNNING - 1], |row| row.get(0)).optional()?;
        let Some(session) = session else { continue };
        pruned.turns += 1;
        let [from, until] = Owner::SESSION_NAMES;
        // One without a user stays until its memories are erased.
        let emptied = c
            .prepare_cached(
                "DELETE FROM sessions WHERE id = ?1 AND ended_at IS NOT NULL
                     AND NOT (user >= ?2 AND user < ?3)
                     AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1)",
            )?
            .execute(params![session, from, until])?;
        pruned.sessions += emptied as u64;
    }
    Ok(pruned)
}

/// Removes dead jobs that are due. Returns whether there may be more.
pub(crate) fn dead_jobs(
    c: &Connection,
    retention: &Retention,
    now: Timestamp,
) -> rusqlite::Result<(Pruned, bool)> {
    let removed = c
        .prepare_cached(
            "DELETE FROM jobs WHERE id IN (
                 SELECT id FROM jobs WHERE state = 'dead' AND due_at <= ?1 LIMIT ?2)",
        )?
        .execute(params![cut(now, retention.dead_jobs), DEAD_BATCH])?;
    let pruned = Pruned { dead_jobs: removed as u64, ..Pruned::default() };
    Ok((pruned, removed == DEAD_BATCH as usize))
}

/// The time in milliseconds by which a row must have ended to be removed.
fn cut(now: Timestamp, kept: Duration) -> i64 {
    now.checked_sub(kept).map_or(i64::MIN, millis)
}
