//! Reading turns again.

mod turn_rows;

use jiff::tz::TimeZone;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    journal::columns::{owner, time},
    turn::StoredTurn,
};
use memgate_core::{memory::Owner, zone};

pub use turn_rows::TurnRow;
pub(crate) use turn_rows::{list_turns, turns_of_ids};

/// The turn of a response id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) turn: i64,
    pub(crate) session: i64,
    pub(crate) ordinal: i64,
}

const COLUMNS: &str = "
    SELECT t.key, t.tenant, t.user, s.name, t.project, t.agent, t.user_text,
        coalesce((SELECT r.text FROM replies r WHERE r.turn = t.id AND r.text <> ''
                  ORDER BY r.depth DESC LIMIT 1), ''),
        t.began_at,
        (SELECT r.request_id FROM replies r WHERE r.turn = t.id ORDER BY r.depth LIMIT 1),
        t.speaker, t.zone, t.is_prompt
    FROM turns t JOIN sessions s ON s.id = t.session";

/// A turn by its number.
pub(crate) fn turn(c: &Connection, id: i64) -> rusqlite::Result<Option<StoredTurn>> {
    c.prepare_cached(&format!("{COLUMNS} WHERE t.id = ?1"))?.query_row([id], stored).optional()
}

/// A turn by its number, and the one before it in its session and scope.
pub(crate) fn turn_and_before(
    c: &Connection,
    id: i64,
) -> rusqlite::Result<(Option<StoredTurn>, Option<StoredTurn>)> {
    let Some(found) = turn(c, id)? else { return Ok((None, None)) };
    let before = c
        .prepare_cached(&format!(
            "{COLUMNS} WHERE t.session = (SELECT session FROM turns WHERE id = ?1) AND t.id < ?1
                 AND t.state = 'complete' AND NOT t.withheld AND t.project IS ?2 AND t.agent IS ?3 ORDER BY t.id DESC LIMIT 1"
        ))?
        .query_row(params![id, found.project, found.agent], stored)
        .optional()?;
    Ok((Some(found), before))
}

/// The complete turn at the place right before a turn's own, in its session.
pub(crate) fn turn_right_before(c: &Connection, id: i64) -> rusqlite::Result<Option<StoredTurn>> {
    c.prepare_cached(&format!(
        "{COLUMNS} JOIN turns own ON own.id = ?1
         WHERE t.session = own.session AND t.ordinal = own.ordinal - 1 AND t.id < own.id
             AND t.state = 'complete' AND NOT t.withheld AND t.project IS own.project AND t.agent IS own.agent
         ORDER BY t.id DESC LIMIT 1"
    ))?
    .query_row([id], stored)
    .optional()
}

/// The last `count` complete turns of a session up to one, oldest first, but for
/// those that give no more facts, or that another person than the owner said.
pub(crate) fn batch(
    c: &Connection,
    session: i64,
    through: i64,
    count: u32,
) -> rusqlite::Result<Vec<StoredTurn>> {
    let mut turns: Vec<StoredTurn> = c
        .prepare_cached(&format!(
            "{COLUMNS} WHERE t.session = ?1 AND t.id <= ?2 AND t.state = 'complete'
               AND NOT t.withheld AND t.speaker IS NULL
             ORDER BY t.id DESC LIMIT ?3"
        ))?
        .query_map(params![session, through, count], stored)?
        .collect::<rusqlite::Result<_>>()?;
    turns.reverse();
    Ok(turns)
}

/// Notes whether a client wrote the message of a turn. Then the turn is not read for facts and summaries.
pub(crate) fn note_prompt(
    c: &Connection,
    owner: &Owner,
    key: &str,
    is_prompt: bool,
) -> rusqlite::Result<()> {
    c.prepare_cached(
        "UPDATE turns SET is_prompt = ?4, withheld = withheld OR ?4
         WHERE tenant = ?1 AND user = ?2 AND key = ?3",
    )?
    .execute(params![owner.tenant(), owner.user(), key, is_prompt])?;
    Ok(())
}

/// The session of a turn.
pub(crate) fn session_of(c: &Connection, turn: i64) -> rusqlite::Result<i64> {
    c.prepare_cached("SELECT session FROM turns WHERE id = ?1")?.query_row([turn], |row| row.get(0))
}

/// The numbers of the last `count` turns of an owner that began until a time, in milliseconds;
/// the last first.
pub(crate) fn turns_until(
    c: &Connection,
    owner: &Owner,
    time: i64,
    count: usize,
) -> rusqlite::Result<Vec<i64>> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    c.prepare_cached(
        "SELECT id FROM turns WHERE tenant = ?1 AND user = ?2 AND began_at <= ?3
         ORDER BY id DESC LIMIT ?4",
    )?
    .query_map(params![owner.tenant(), owner.name(), time, count], |row| row.get(0))?
    .collect()
}

/// The turn whose reply had this id, only among the owner's.
pub(crate) fn turn_of_response(
    c: &Connection,
    owner: &Owner,
    response_id: &str,
) -> rusqlite::Result<Option<Subject>> {
    c.prepare_cached(
        "SELECT t.id, t.session, t.ordinal FROM replies r JOIN turns t ON t.id = r.turn
         WHERE r.tenant = ?1 AND r.user = ?2 AND r.response_id = ?3
         ORDER BY t.id DESC LIMIT 1",
    )?
    .query_row(params![owner.tenant(), owner.name(), response_id], |row| {
        Ok(Subject { turn: row.get(0)?, session: row.get(1)?, ordinal: row.get(2)? })
    })
    .optional()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredTurn> {
    let (tenant, user): (String, String) = (row.get(1)?, row.get(2)?);
    Ok(StoredTurn {
        key: row.get(0)?,
        owner: owner(&tenant, &user)?,
        session: row.get(3)?,
        project: row.get(4)?,
        agent: row.get(5)?,
        user_text: row.get(6)?,
        reply_text: row.get(7)?,
        began: time(row.get(8)?)?,
        request_id: row.get(9)?,
        speaker: row.get(10)?,
        zone: row
            .get::<_, Option<String>>(11)?
            .and_then(|it| zone::named(&it))
            .unwrap_or(TimeZone::UTC),
        is_prompt: row.get(12)?,
    })
}
