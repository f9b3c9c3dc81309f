//! Which sessions owe a summary, and of which turns.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::{
    journal::{jobs, read::batch, sessions::find::find},
    settings::Rules,
    turn::StoredTurn,
};
use memgate_core::memory::Owner;

/// The most turns of a session that are summed up: the last.
const MOST_TURNS: u32 = 100;

/// The end of a session owes a summary, where it has turns that none was asked for yet.
pub(crate) fn ask_for_rest(
    c: &Connection,
    session: i64,
    rules: &Rules,
    now: Timestamp,
) -> rusqlite::Result<()> {
    if !rules.sessions.summaries {
        return Ok(());
    }
    let news = c
        .prepare_cached(
            "UPDATE sessions SET summed_up = last.turn
             FROM (SELECT coalesce(max(id), 0) AS turn FROM turns
                   WHERE session = ?1 AND state = 'complete') AS last
             WHERE id = ?1 AND summed_up <> last.turn",
        )?
        .execute([session])?;
    if news == 0 { Ok(()) } else { jobs::ask_for_summary(c, session, now) }
}

/// Owes a summary once more, since the one that was is gone. One of a session
/// that goes on is made when that ends.
pub(crate) fn sum_up_again(
    c: &Connection,
    owner: &Owner,
    name: &str,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let Some(session) = find(c, owner, name)? else { return Ok(()) };
    let wanted = c
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1 AND summed_up IS NOT NULL")?
        .exists([session])?;
    if wanted { jobs::ask_for_summary(c, session, now) } else { Ok(()) }
}

/// Owes no summary of a session any more, whatever is still said in it.
pub(crate) fn never_sum_up(c: &Connection, owner: &Owner, name: &str) -> rusqlite::Result<()> {
    c.prepare_cached(
        "UPDATE sessions SET summed_up = NULL WHERE tenant = ?1 AND user = ?2 AND name = ?3",
    )?
    .execute(params![owner.tenant(), owner.name(), name])?;
    Ok(())
}

/// The turns of a session to be summed up, oldest first; none when it is to have no summary.
pub(crate) fn to_sum_up(c: &Connection, session: i64) -> rusqlite::Result<Vec<StoredTurn>> {
    let wanted = c
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1 AND summed_up IS NOT NULL")?
        .exists([session])?;
    if wanted { batch(c, session, i64::MAX, MOST_TURNS) } else { Ok(Vec::new()) }
}
