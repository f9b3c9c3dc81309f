//! The conversation before a response, for requests that name only the response.

use rusqlite::{Connection, OptionalExtension};

use super::read;
use crate::{capture::turn::JournaledTurn, memory::Owner};

/// The last `count` turns of the chain that ends with a response, oldest first.
/// Only the owner's own turns are looked at; where one is missing the chain begins.
pub(in crate::capture) fn chain(
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
        turns.push(JournaledTurn {
            session: turn.session,
            user_text: turn.user_text,
            reply_text: turn.reply_text,
            at: turn.began,
        });
        next = c
            .prepare_cached("SELECT follows FROM turns WHERE id = ?1")?
            .query_row([found.turn], |row| row.get(0))
            .optional()?
            .flatten();
    }
    turns.reverse();
    Ok(turns)
}
