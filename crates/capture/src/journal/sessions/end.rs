//! The ends of turns and sessions, and the jobs they owe then.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    journal::{
        columns::{millis, owner},
        jobs::{self, JobKind},
        orders, read,
        sessions::{summaries, trigger},
    },
    session::SessionKey,
    settings::Rules,
};

/// Result of ending a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its complete turns.
    pub(crate) turns: u32,
}

/// Ends a session: its open turns are complete, what is left to extract is owed.
pub(crate) fn end(
    c: &Connection,
    session: i64,
    rules: &Rules,
    now: Timestamp,
) -> rusqlite::Result<Ended> {
    let open: Vec<i64> = c
        .prepare_cached("SELECT id FROM turns WHERE session = ?1 AND state = 'open' ORDER BY id")?
        .query_map([session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for turn in open {
        complete(c, turn, rules, now)?;
    }
    extract_rest(c, session, rules, now)?;
    summaries::ask_for_rest(c, session, rules, now)?;
    c.prepare_cached("UPDATE sessions SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL")?
        .execute(params![session, millis(now)])?;
    jobs::cancel(c, JobKind::EndIdleSession, session)?;
    let turns = c
        .prepare_cached("SELECT turns FROM sessions WHERE id = ?1")?
        .query_row([session], |row| row.get(0))?;
    Ok(Ended { turns })
}

/// Why a session does not end yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It will be idle at that time.
    Until(Timestamp),
    /// An exchange of it is in flight, or may be.
    Busy,
}

/// Ends a session if it is idle by now, else returns what it waits for. `talking`
/// are the sessions of its owner's exchanges in flight, as far as they are known.
pub(crate) fn end_if_idle(
    c: &Connection,
    session: i64,
    talking: &[Option<SessionKey>],
    rules: &Rules,
    now: Timestamp,
) -> rusqlite::Result<Option<Waits>> {
    let found = c
        .prepare_cached(
            "SELECT tenant, user, name, base, active_at, left_at IS NOT NULL FROM sessions
             WHERE id = ?1",
        )?
        .query_row([session], |row| {
            Ok((
                (row.get::<_, String>(0)?, row.get::<_, String>(1)?),
                [row.get::<_, String>(2)?, row.get(3)?],
                (row.get::<_, i64>(4)?, row.get::<_, bool>(5)?),
            ))
        })
        .optional()?;
    let Some(((tenant, user), names, (active, left))) = found else { return Ok(None) };
    let idle = if left { rules.quiet_at(active) } else { rules.idle_at(active) };
    if idle > now {
        return Ok(Some(Waits::Until(idle)));
    }
    let owner = owner(&tenant, &user)?;
    for key in talking {
        // Whose session is not known yet may be this one.
        let Some(key) = key else { return Ok(Some(Waits::Busy)) };
        let of_response = match key {
            SessionKey::AfterResponse(id) => read::turn_of_response(c, &owner, id)?,
            _ => None,
        };
        let same = match of_response {
            Some(turn) => turn.session == session,
            None => names.iter().any(|name| name == key.name()),
        };
        if same {
            return Ok(Some(Waits::Busy));
        }
    }
    end(c, session, rules, now)?;
    Ok(None)
}

/// A turn is complete: it is counted once, and owes its memory and perhaps an extraction.
pub(crate) fn complete(
    c: &Connection,
    turn: i64,
    rules: &Rules,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let session: i64 = c
        .prepare_cached("UPDATE turns SET state = 'complete' WHERE id = ?1 RETURNING session")?
        .query_row([turn], |row| row.get(0))?;
    let forgets = orders::owe(c, turn, now)?;
    if rules.store_turns && !forgets {
        jobs::ask_for_turn(c, JobKind::StoreTurn, turn, now)?;
    }
    if rules.extract_locally && !forgets {
        jobs::ask_for_turn(c, JobKind::ExtractLocally, turn, now)?;
    }
    let first = c
        .prepare_cached("UPDATE turns SET counted_at = ?2 WHERE id = ?1 AND counted_at IS NULL")?
        .execute(params![turn, millis(now)])?;
    if first == 0 {
        return Ok(());
    }
    let (turns, extracted) = c
        .prepare_cached(
            "UPDATE sessions SET turns = turns + 1 WHERE id = ?1 RETURNING turns, extracted",
        )?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match rules.extract_every.and_then(|every| trigger::batch(turns, extracted, every)) {
        Some(batch) => ask_for_extraction(c, session, batch, now),
        None => Ok(()),
    }
}

/// Owes the extraction of the turns that none was asked for yet.
fn extract_rest(
    c: &Connection,
    session: i64,
    rules: &Rules,
    now: Timestamp,
) -> rusqlite::Result<()> {
    if rules.extract_every.is_none() {
        return Ok(());
    }
    let (turns, extracted) = c
        .prepare_cached("SELECT turns, extracted FROM sessions WHERE id = ?1")?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match trigger::rest(turns, extracted) {
        Some(batch) => ask_for_extraction(c, session, batch, now),
        None => Ok(()),
    }
}

fn ask_for_extraction(
    c: &Connection,
    session: i64,
    batch: u32,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let through: Option<i64> = c
        .prepare_cached("SELECT max(id) FROM turns WHERE session = ?1 AND state = 'complete'")?
        .query_row([session], |row| row.get(0))?;
    let Some(through) = through else { return Ok(()) };
    jobs::ask_for_extraction(c, through, session, batch, now)?;
    c.prepare_cached("UPDATE sessions SET extracted = turns WHERE id = ?1")?.execute([session])?;
    Ok(())
}

/// Owes the extraction of what was said in a session before a turn that is about
/// something else, as far as none was asked for yet.
pub(crate) fn extract_before(
    c: &Connection,
    turn: i64,
    rules: &Rules,
    now: Timestamp,
) -> rusqlite::Result<()> {
    if rules.extract_every.is_none() {
        return Ok(());
    }
    let found = c
        .prepare_cached(
            "SELECT s.id, s.turns - (SELECT count(*) FROM turns
                 WHERE session = s.id AND id >= ?1 AND counted_at IS NOT NULL),
                 s.extracted,
                 (SELECT max(id) FROM turns WHERE session = s.id AND id < ?1 AND state = 'complete')
             FROM sessions s WHERE s.id = (SELECT session FROM turns WHERE id = ?1)",
        )?
        .query_row([turn], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get::<_, Option<i64>>(3)?))
        })
        .optional()?;
    let Some((session, before, extracted, Some(through))) = found else { return Ok(()) };
    let Some(batch) = trigger::rest(before, extracted) else { return Ok(()) };
    jobs::ask_for_extraction(c, through, session, batch, now)?;
    c.prepare_cached("UPDATE sessions SET extracted = ?2 WHERE id = ?1")?
        .execute(params![session, before])?;
    Ok(())
}
