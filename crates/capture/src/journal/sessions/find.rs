//! Which session an entry belongs to: found, or begun.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use crate::{
    journal::{columns::millis, entry::Entry, jobs, read},
    session::{Place, SessionKey, successor},
    settings::Rules,
};
use memgate_core::memory::Owner;

/// A session's row.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: i64,
    pub(crate) name: String,
}

/// The session of an entry, found or begun, and again active.
pub(crate) fn resolve(c: &Connection, entry: &Entry, rules: &Rules) -> rusqlite::Result<Session> {
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
        .query_row(params![entry.owner.tenant(), entry.owner.name(), base], |row| {
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
            ":tenant": entry.owner.tenant(), ":user": entry.owner.name(),
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
    let (tenant, user) = (entry.owner.tenant(), entry.owner.name());
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
pub(crate) fn find(c: &Connection, owner: &Owner, name: &str) -> rusqlite::Result<Option<i64>> {
    c.prepare_cached("SELECT id FROM sessions WHERE tenant = ?1 AND user = ?2 AND name = ?3")?
        .query_row(params![owner.tenant(), owner.name(), name], |row| row.get(0))
        .optional()
}

/// An owner's sessions that have not ended.
pub(crate) fn running(c: &Connection, owner: &Owner) -> rusqlite::Result<Vec<i64>> {
    c.prepare_cached(
        "SELECT id FROM sessions WHERE tenant = ?1 AND user = ?2 AND ended_at IS NULL",
    )?
    .query_map(params![owner.tenant(), owner.name()], |row| row.get(0))?
    .collect()
}
