//! A message that was edited and sent anew: at the same place of the same conversation, in other words. It takes the place of
//! the first version. Only what the request and the journal prove is an edit: a memory that is wrongly hidden costs more than
//! one that is kept too long.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::{
    journal::{
        columns::time,
        entry::{Entry, History},
        jobs::{self, JobKind},
    },
    session::Place,
    settings::Rules,
};

/// The turn that holds the first version of an edited message.
pub(super) struct Edited {
    turn: i64,
    /// Its key.
    pub(super) key: String,
}

/// The payload of the job that forgets a first version.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EditOrder {
    /// The turn of the new version.
    pub(crate) by: i64,
}

/// The first version of the message that an entry brings, which is not in the journal yet. A client may use one session for
/// many conversations, also at the same time, and conversations may begin alike. So there is an edit only where
/// - all messages before it are the same, byte for byte, and were said in this session;
/// - the user message right before it is more than a greeting, and came once;
/// - no other message came at its place or before since the first version was answered;
/// - the session was not idle since.
pub(super) fn edited(
    c: &Connection,
    entry: &Entry,
    session: i64,
    ordinal: i64,
    rules: &Rules,
) -> rusqlite::Result<Option<Edited>> {
    let (Place::Numbered(_), Some(history)) = (&entry.place, &entry.history) else {
        return Ok(None);
    };
    if entry.had_media || entry.user_text.is_empty() || !was_said(c, history, session, ordinal)? {
        return Ok(None);
    }
    // Several people may answer the same message.
    let first: Option<(Edited, i64)> = c
        .prepare_cached(
            "SELECT id, key, ended_at FROM turns
             WHERE session = ?1 AND ordinal = ?2 AND history = ?3 AND speaker IS ?4 AND NOT had_media
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![session, ordinal, history.whole, entry.speaker], |row| {
            Ok((Edited { turn: row.get(0)?, key: row.get(1)? }, row.get(2)?))
        })
        .optional()?;
    let Some((edited, ended)) = first else { return Ok(None) };
    let in_time = time(ended)? <= entry.began && entry.began < rules.idle_at(ended);
    let proven = in_time && !is_followed(c, session, ordinal, edited.turn, ended)?;
    Ok(proven.then_some(edited))
}

/// Whether the user message right before is in the journal, and came once: one that came twice may begin two conversations.
/// One that never came is an example in the client's prompt.
fn was_said(
    c: &Connection,
    history: &History,
    session: i64,
    ordinal: i64,
) -> rusqlite::Result<bool> {
    c.prepare_cached(
        "SELECT 1 FROM turns WHERE session = ?1 AND ordinal = ?2 AND digest = ?3 AND NOT repeated",
    )?
    .exists(params![session, ordinal - 1, history.before])
}

/// Whether another message came at the place of a turn or before, after it had ended: another conversation went on. A client's own
/// prompts come between.
fn is_followed(
    c: &Connection,
    session: i64,
    ordinal: i64,
    turn: i64,
    ended: i64,
) -> rusqlite::Result<bool> {
    c.prepare_cached(
        "SELECT 1 FROM turns WHERE session = ?1 AND ordinal <= ?2 AND id <> ?3 AND ended_at >= ?4
             AND user_text <> '' AND is_prompt IS NOT 1",
    )?
    .exists(params![session, ordinal, turn, ended])
}

/// Owes forgetting a first version.
pub(super) fn owe(c: &Connection, entry: &Entry, edited: &Edited, by: i64) -> rusqlite::Result<()> {
    let order = serde_json::json!(EditOrder { by }).to_string();
    let (kind, owner) = (JobKind::ForgetEdited, &entry.owner);
    jobs::ask_for_order(c, kind, edited.turn, owner, order, entry.ended)
}

/// Lets a turn stay whose message came once more.
pub(super) fn keep(c: &Connection, turn: i64) -> rusqlite::Result<()> {
    jobs::cancel(c, JobKind::ForgetEdited, turn)
}
