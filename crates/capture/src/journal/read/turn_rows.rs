//! Turns as the API shows them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{journal::read, turn::StoredTurn};
use memgate_core::memory::Owner;

/// A turn as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its place in the order that turns are listed in.
    pub number: i64,
    /// Its id, unique within its owner.
    pub id: String,
    /// The id of its session.
    pub session: String,
    /// The id of its first request.
    pub request_id: Option<String>,
    /// The project.
    pub project_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// Who said it, where that was another person than the owner.
    pub speaker: Option<String>,
    /// The user's words, screened.
    pub user_text: String,
    /// The reply's words, screened; of the last reply when tools ran between.
    pub reply_text: String,
    /// When its first request began.
    pub began_at: Timestamp,
}

impl TurnRow {
    fn of(number: i64, turn: StoredTurn) -> Self {
        Self {
            number,
            id: turn.key,
            session: turn.session,
            request_id: turn.request_id,
            project_id: turn.project,
            agent_id: turn.agent,
            speaker: turn.speaker,
            user_text: turn.user_text,
            reply_text: turn.reply_text,
            began_at: turn.began,
        }
    }
}

/// The complete turns of an owner's session that are still in the journal, the last first, but for those that may not be
/// told again; only those before a place. `None` when the owner has no such session.
pub(crate) fn list_turns(
    c: &Connection,
    owner: &Owner,
    session: &str,
    before: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Option<Vec<TurnRow>>> {
    let found: Option<i64> = c
        .prepare_cached("SELECT id FROM sessions WHERE tenant = ?1 AND user = ?2 AND name = ?3")?
        .query_row(params![owner.tenant(), owner.name(), session], |row| row.get(0))
        .optional()?;
    let Some(session) = found else { return Ok(None) };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let numbers: Vec<i64> = c
        .prepare_cached(
            "SELECT id FROM turns WHERE session = ?1 AND id < ?2 AND state = 'complete' AND NOT withheld
             ORDER BY id DESC LIMIT ?3",
        )?
        .query_map(params![session, before.unwrap_or(i64::MAX), limit], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    rows(c, numbers).map(Some)
}

/// An owner's turns with these ids that are still in the journal and may be told again.
pub(crate) fn turns_of_ids(
    c: &Connection,
    owner: &Owner,
    ids: &[String],
) -> rusqlite::Result<Vec<TurnRow>> {
    let mut find = c.prepare_cached(
        "SELECT id FROM turns WHERE tenant = ?1 AND user = ?2 AND key = ?3
           AND state = 'complete' AND NOT withheld",
    )?;
    let mut numbers: Vec<i64> = Vec::with_capacity(ids.len());
    for id in ids {
        let found =
            find.query_row(params![owner.tenant(), owner.name(), id], |row| row.get::<_, i64>(0));
        numbers.extend(found.optional()?);
    }
    rows(c, numbers)
}

fn rows(c: &Connection, numbers: Vec<i64>) -> rusqlite::Result<Vec<TurnRow>> {
    let row = |number| Ok(read::turn(c, number)?.map(|turn| TurnRow::of(number, turn)));
    numbers.into_iter().filter_map(|number| row(number).transpose()).collect()
}
