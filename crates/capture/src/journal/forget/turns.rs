//! Forgetting turns, with all that the journal made of them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::journal::{columns::millis, entry::Forgotten, jobs, sessions};
use memgate_core::memory::Owner;

/// Which turns of an owner to forget.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Forget {
    /// All, sessions and jobs included.
    Everything,
    /// Those of a project.
    Project(String),
    /// The one that a memory's provenance names.
    Turn(String),
    /// Those in which a fact was found: the one that its provenance names, the
    /// last of them, is removed; the others of the session up to that time stay,
    /// and no fact is looked for in them again.
    Found {
        /// The session's id.
        session: String,
        /// The key in the fact's provenance.
        turn: String,
        /// When that turn began.
        until: Timestamp,
    },
}

/// The turn that is to be forgotten by its key, if the journal has it.
pub(crate) fn by_key(
    c: &Connection,
    owner: &Owner,
    what: &Forget,
) -> rusqlite::Result<Option<Forgotten>> {
    let (Forget::Turn(key) | Forget::Found { turn: key, .. }) = what else { return Ok(None) };
    c.prepare_cached(
        "SELECT t.digest, s.name, s.base, t.id = (SELECT max(id) FROM turns WHERE session = s.id)
         FROM turns t JOIN sessions s ON s.id = t.session
         WHERE t.tenant = ?1 AND t.user = ?2 AND t.key = ?3",
    )?
    .query_row(params![owner.tenant(), owner.name(), key], |row| {
        Ok(Forgotten {
            owner: owner.clone(),
            digest: row.get(0)?,
            session: [row.get(1)?, row.get(2)?],
            was_last: row.get(3)?,
        })
    })
    .optional()
}

/// Removes turns, their jobs and what extraction had found in their sessions.
pub(crate) fn remove(
    c: &Connection,
    owner: &Owner,
    what: &Forget,
    now: Timestamp,
) -> rusqlite::Result<u64> {
    let (tenant, user) = (owner.tenant(), owner.name());
    let (condition, value) = match what {
        Forget::Everything => return everything(c, owner),
        Forget::Project(project) => ("project", project),
        Forget::Turn(key) => ("key", key),
        Forget::Found { session, turn, until } => {
            withhold(c, owner, session, *until, now)?;
            ("key", turn)
        }
    };
    let turns: Vec<(i64, i64)> = c
        .prepare_cached(&format!(
            "SELECT id, session FROM turns WHERE tenant = ?1 AND user = ?2 AND {condition} = ?3"
        ))?
        .query_map(params![tenant, user, value], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (turn, session) in &turns {
        c.prepare_cached(
            "DELETE FROM jobs WHERE kind IN ('store_turn', 'extract_locally', 'remember') AND subject = ?1",
        )?
        .execute([turn])?;
        find_again(c, *session, now)?;
        drop_values(c, *session)?;
        c.prepare_cached(
            "UPDATE sessions SET
                 turns = turns - (SELECT counted_at IS NOT NULL FROM turns WHERE id = ?2),
                 extracted = min(extracted, turns - (SELECT counted_at IS NOT NULL FROM turns WHERE id = ?2))
             WHERE id = ?1",
        )?
        .execute([session, turn])?;
        c.prepare_cached("DELETE FROM turns WHERE id = ?1")?.execute([turn])?;
        let emptied = c
            .prepare_cached(
                "DELETE FROM sessions
                 WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1)",
            )?
            .execute([session])?;
        if emptied > 0 {
            c.prepare_cached(
                "DELETE FROM jobs WHERE (kind IN ('end_idle_session', 'summarise') AND subject = ?1)
                     OR (kind IN ('extract', 'reconcile') AND payload ->> '$.session' = ?1)",
            )?
            .execute([session])?;
        }
    }
    Ok(turns.len() as u64)
}

/// Keeps what was said in a session up to a time from being read for facts again.
fn withhold(
    c: &Connection,
    owner: &Owner,
    name: &str,
    until: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let Some(session) = sessions::find(c, owner, name)? else { return Ok(()) };
    c.prepare_cached("UPDATE turns SET withheld = 1 WHERE session = ?1 AND began_at <= ?2")?
        .execute(params![session, millis(until)])?;
    drop_values(c, session)?;
    find_again(c, session, now)
}

/// Removes the words of a turn, its reply's and its tools', and finds nothing in it any more. The turn stays, so that the same
/// message is known when it comes again.
pub(crate) fn withhold_words(c: &Connection, owner: &Owner, key: &str) -> rusqlite::Result<()> {
    let of = params![owner.tenant(), owner.name(), key];
    let turn: Option<(i64, i64)> = c
        .prepare_cached(
            "UPDATE turns SET user_text = '', withheld = 1
             WHERE tenant = ?1 AND user = ?2 AND key = ?3 RETURNING id, session",
        )?
        .query_row(of, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((turn, session)) = turn else { return Ok(()) };
    c.prepare_cached("UPDATE replies SET text = '', refusal = NULL WHERE turn = ?1")?
        .execute([turn])?;
    c.prepare_cached("UPDATE tool_calls SET input = '', output = NULL WHERE turn = ?1")?
        .execute([turn])?;
    drop_values(c, session)
}

/// Drops the values of a session, which may have been made of a turn that is now gone.
fn drop_values(c: &Connection, session: i64) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM session_values WHERE session = ?1")?.execute([session])?;
    Ok(())
}

/// Drops the candidates that an extraction of this session has found, because they may come from a
/// turn that is now gone; the rest of the batch is read again.
fn find_again(c: &Connection, session: i64, now: Timestamp) -> rusqlite::Result<()> {
    let found: Vec<(i64, u32)> = c
        .prepare_cached(
            "DELETE FROM jobs WHERE kind = 'reconcile' AND payload ->> '$.session' = ?1
             RETURNING subject, payload ->> '$.batch'",
        )?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (through, batch) in found {
        jobs::ask_for_extraction(c, through, session, batch, now)?;
    }
    Ok(())
}

fn everything(c: &Connection, owner: &Owner) -> rusqlite::Result<u64> {
    let of = params![owner.tenant(), owner.name()];
    c.prepare_cached("DELETE FROM jobs WHERE tenant = ?1 AND user = ?2")?.execute(of)?;
    let turns =
        c.prepare_cached("DELETE FROM turns WHERE tenant = ?1 AND user = ?2")?.execute(of)?;
    c.prepare_cached("DELETE FROM sessions WHERE tenant = ?1 AND user = ?2")?.execute(of)?;
    Ok(turns as u64)
}
