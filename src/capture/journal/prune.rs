//! Removing what was learnt and is old: turns, sessions that have none left, and
//! jobs that nobody has asked for again.
//!
//! A turn that is gone takes nothing else with it: a chain that leads to it ends
//! there, and what a session has counted stays counted.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::millis;
use crate::capture::settings::Retention;

/// Turns that are looked at in one transaction.
const BATCH: u32 = 500;

/// Dead jobs that are removed in one transaction.
const DEAD_BATCH: u32 = 500;

/// The last turns of a session that goes on; they stay, however old: its next
/// extraction, and its summary, are made of them.
const RUNNING: u32 = 1024;

/// What a step has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::capture) struct Pruned {
    pub(in crate::capture) turns: u64,
    pub(in crate::capture) sessions: u64,
    pub(in crate::capture) dead_jobs: u64,
}

impl Pruned {
    /// Both together.
    pub(in crate::capture) fn and(self, other: Self) -> Self {
        Self {
            turns: self.turns + other.turns,
            sessions: self.sessions + other.sessions,
            dead_jobs: self.dead_jobs + other.dead_jobs,
        }
    }
}

/// A turn that was looked at.
struct Found {
    turn: i64,
    session: i64,
    is_old: bool,
    is_due: bool,
}

/// Removes what is due among the turns after one; tells after which to go on,
/// `None` at the end.
///
/// A turn is learnt when it is complete and its owner is owed nothing: no job,
/// pending or dead, but for the ends of sessions that are not idle yet.
pub(in crate::capture) fn turns(
    c: &Connection,
    retention: &Retention,
    after: i64,
    now: Timestamp,
) -> rusqlite::Result<(Pruned, Option<i64>)> {
    let cut = cut(now, retention.turns);
    let looked_at: Vec<Found> = c
        .prepare_cached(
            "SELECT t.id, t.session, t.ended_at <= ?2,
                 t.ended_at <= ?2 AND t.state = 'complete'
                 AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.tenant = t.tenant
                     AND j.user = t.user AND j.kind <> 'end_idle_session')
                 AND (s.ended_at IS NOT NULL OR t.id < (SELECT id FROM turns
                     WHERE session = t.session ORDER BY id DESC LIMIT 1 OFFSET ?3))
             FROM turns t JOIN sessions s ON s.id = t.session
             WHERE t.id > ?1 ORDER BY t.id LIMIT ?4",
        )?
        .query_map(params![after, cut, RUNNING - 1, BATCH], |row| {
            Ok(Found {
                turn: row.get(0)?,
                session: row.get(1)?,
                is_old: row.get(2)?,
                // Unknown where a session that goes on has fewer turns than stay.
                is_due: row.get::<_, Option<bool>>(3)?.unwrap_or(false),
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut pruned = Pruned::default();
    for found in looked_at.iter().filter(|found| found.is_due) {
        c.prepare_cached("DELETE FROM turns WHERE id = ?1")?.execute([found.turn])?;
        pruned.turns += 1;
        let emptied = c
            .prepare_cached(
                "DELETE FROM sessions WHERE id = ?1 AND ended_at IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1)",
            )?
            .execute([found.session])?;
        pruned.sessions += emptied as u64;
    }
    // Turns are numbered as they begin: after so many that are not old comes none that is.
    let more = looked_at.len() == BATCH as usize && looked_at.iter().any(|found| found.is_old);
    Ok((pruned, looked_at.last().filter(|_| more).map(|found| found.turn)))
}

/// Removes dead jobs that are due; tells whether there may be more.
pub(in crate::capture) fn dead_jobs(
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

/// What ended by then, in milliseconds, is due.
fn cut(now: Timestamp, kept: Duration) -> i64 {
    now.checked_sub(kept).map_or(i64::MIN, millis)
}
