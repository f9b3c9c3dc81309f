//! Earlier messages, for requests that name only a response or a session.

use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    journal::read,
    turn::{JournaledTurn, StoredTurn},
};
use memgate_core::memory::Owner;

/// The last `count` turns of the chain that ends with a response, oldest first.
/// Only the owner's own turns are looked at; where one is missing the chain begins.
pub(crate) fn chain(
    c: &Connection,
    owner: &Owner,
    response_id: &str,
    count: usize,
) -> rusqlite::Result<Vec<JournaledTurn>> {
    let mut turns = Vec::new();
    let mut next = Some(response_id.to_owned());
    while let Some(response) = next.take_if(|_| turns.len() < count) {
        let Some(found) = read::turn_of_response(c, owner, &response)? else { break };
        let Some(turn) = read::turn(c, found.turn)? else { break };
        turns.push(journaled(turn));
        next = c
            .prepare_cached("SELECT follows FROM turns WHERE id = ?1")?
            .query_row([found.turn], |row| row.get(0))
            .optional()?
            .flatten();
    }
    turns.reverse();
    Ok(turns)
}

/// The last `count` turns of an owner's session, oldest first, but for those that may not be told again.
pub(crate) fn of_session(
    c: &Connection,
    owner: &Owner,
    name: &str,
    count: usize,
) -> rusqlite::Result<Vec<JournaledTurn>> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let last: Vec<i64> = c
        .prepare_cached(
            "SELECT t.id FROM turns t JOIN sessions s ON s.id = t.session
             WHERE s.tenant = ?1 AND s.user = ?2 AND s.name = ?3 AND NOT t.withheld
             ORDER BY t.id DESC LIMIT ?4",
        )?
        .query_map(params![owner.tenant(), owner.name(), name, count], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut turns = Vec::with_capacity(last.len());
    for id in last.into_iter().rev() {
        turns.extend(read::turn(c, id)?.map(journaled));
    }
    Ok(turns)
}

fn journaled(turn: StoredTurn) -> JournaledTurn {
    JournaledTurn {
        session: turn.session,
        user_text: turn.user_text,
        reply_text: turn.reply_text,
        at: turn.began,
    }
}
