//! Sessions: which one an entry belongs to, and their ends.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::{JobKind, Rules, entry::Entry, jobs, millis, orders, owner, read, summaries};
use crate::{
    capture::{
        session::{Place, SessionKey, successor},
        trigger,
    },
    memory::Owner,
};

/// A session's row.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: i64,
    pub(super) name: String,
}

/// What the end of a session told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) struct Ended {
    /// Its complete turns.
    pub(in crate::capture) turns: u32,
}

/// The session of an entry, found or begun, and again active.
pub(super) fn resolve(c: &Connection, entry: &Entry, rules: &Rules) -> rusqlite::Result<Session> {
    let by_response = match (&entry.session, &entry.place) {
        (SessionKey::AfterResponse(id), _) => read::turn_of_response(c, &entry.owner, id)?,
        _ => None,
    };
    let session = match by_response {
        Some(turn) => get(c, turn.session)?,
        None => match &entry.session {
            SessionKey::Derived(base) => derived(c, entry, base, rules)?,
            key => begin(c, entry, key.name(), 0, rules)?,
        },
    };
    c.prepare_cached(
        "UPDATE sessions SET active_at = max(active_at, ?2), ended_at = NULL, left_at = NULL
         WHERE id = ?1",
    )?
    .execute(params![session.id, millis(entry.ended)])?;
    Ok(session)
}

/// A derived session goes on until it was idle for too long, also when it was
/// left for a newer one meanwhile; one that was ended otherwise goes on only for
/// a turn that it holds already (a regeneration).
fn derived(c: &Connection, entry: &Entry, base: &str, rules: &Rules) -> rusqlite::Result<Session> {
    let last = c
        .prepare_cached(
            "SELECT id, name, generation, active_at, ended_at IS NOT NULL AND left_at IS NULL
             FROM sessions
             WHERE tenant = ?1 AND user = ?2 AND base = ?3 ORDER BY generation DESC LIMIT 1",
        )?
        .query_row(params![entry.owner.tenant(), entry.owner.user(), base], |row| {
            let session = Session { id: row.get(0)?, name: row.get(1)? };
            Ok((session, row.get::<_, u32>(2)?, row.get::<_, i64>(3)?, row.get::<_, bool>(4)?))
        })
        .optional()?;
    let Some((session, generation, active_at, ended)) = last else {
        return begin(c, entry, base, 0, rules);
    };
    let idle = entry.began >= rules.idle_at(active_at);
    if idle || (ended && !holds(c, session.id, entry)?) {
        return begin(c, entry, base, generation + 1, rules);
    }
    Ok(session)
}

fn holds(c: &Connection, session: i64, entry: &Entry) -> rusqlite::Result<bool> {
    let Place::Numbered(ordinal) = entry.place else { return Ok(false) };
    c.prepare_cached("SELECT 1 FROM turns WHERE session = ?1 AND ordinal = ?2 AND digest = ?3")?
        .exists(params![session, ordinal, entry.digest])
}

/// The session of that name and generation, begun when there is none.
fn begin(
    c: &Connection,
    entry: &Entry,
    base: &str,
    generation: u32,
    rules: &Rules,
) -> rusqlite::Result<Session> {
    let name = successor(base, generation);
    let begun = c
        .prepare_cached(
            "INSERT INTO sessions (tenant, user, name, base, generation, started_at, active_at)
         VALUES (:tenant, :user, :name, :base, :generation, :at, :at) ON CONFLICT DO NOTHING",
        )?
        .execute(named_params! {
            ":tenant": entry.owner.tenant(), ":user": entry.owner.user(),
            ":name": name, ":base": base, ":generation": generation, ":at": millis(entry.began),
        })?;
    let found = find(c, &entry.owner, &name)?;
    // It was there, or it is now.
    let id = found.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    if begun > 0 {
        leave_others(c, entry, id, rules)?;
    }
    Ok(Session { id, name })
}

/// A new session leaves its user's others: they end once they are quiet, and not
/// after the whole idle time. Those that go on beside it are not touched: their
/// next turn takes that back.
fn leave_others(c: &Connection, entry: &Entry, new: i64, rules: &Rules) -> rusqlite::Result<()> {
    let (tenant, user) = (entry.owner.tenant(), entry.owner.user());
    // Each is left once, so that many short sessions do not owe the same again and again.
    let left: Vec<(i64, i64)> = c
        .prepare_cached(
            "UPDATE sessions SET left_at = ?4
             WHERE tenant = ?1 AND user = ?2 AND id <> ?3 AND ended_at IS NULL AND left_at IS NULL
             RETURNING id, active_at",
        )?
        .query_map(params![tenant, user, new, millis(entry.began)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (session, active) in left {
        jobs::ask_for_end(c, session, &entry.owner, rules.quiet_at(active), entry.ended)?;
    }
    Ok(())
}

fn get(c: &Connection, id: i64) -> rusqlite::Result<Session> {
    c.prepare_cached("SELECT id, name FROM sessions WHERE id = ?1")?
        .query_row([id], |row| Ok(Session { id: row.get(0)?, name: row.get(1)? }))
}

/// An owner's session of that name.
pub(super) fn find(c: &Connection, owner: &Owner, name: &str) -> rusqlite::Result<Option<i64>> {
    c.prepare_cached("SELECT id FROM sessions WHERE tenant = ?1 AND user = ?2 AND name = ?3")?
        .query_row(params![owner.tenant(), owner.user(), name], |row| row.get(0))
        .optional()
}

/// An owner's sessions that have not ended.
pub(super) fn running(c: &Connection, owner: &Owner) -> rusqlite::Result<Vec<i64>> {
    c.prepare_cached(
        "SELECT id FROM sessions WHERE tenant = ?1 AND user = ?2 AND ended_at IS NULL",
    )?
    .query_map(params![owner.tenant(), owner.user()], |row| row.get(0))?
    .collect()
}

/// Ends a session: its open turns are complete, what is left to extract is owed.
pub(super) fn end(
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
pub(in crate::capture) enum Waits {
    /// It will be idle at that time.
    Until(Timestamp),
    /// An exchange of it is in flight, or may be.
    Busy,
}

/// Ends a session if it is idle by now; else tells what it waits for. `talking`
/// are the sessions of its owner's exchanges in flight, as far as they are known.
pub(in crate::capture) fn end_if_idle(
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
pub(super) fn complete(
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
pub(in crate::capture) fn extract_before(
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
