//! The tool calls of a turn: written when a reply calls, filled in when a later
//! request brings the results.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use crate::{
    journal::{columns::millis, entry::Entry},
    session::Place,
};
use memgate_dialect::ToolItem;

/// Writes the tool calls of an exchange: those before its reply, which is at `depth`, and those that
/// the reply makes.
pub(crate) fn write(c: &Connection, entry: &Entry, turn: i64, depth: i64) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM tool_calls WHERE turn = ?1 AND position >= ?2")?
        .execute(params![turn, depth])?;
    let latency = latency(c, entry, turn, depth)?;
    for (position, item) in (0..).zip(&entry.before) {
        let position = match &entry.place {
            // These requests bring results only; their order is not the calls'.
            Place::Within(_) | Place::Latest => position_of(c, turn, &item.call_id)?,
            Place::Numbered(_) | Place::After(_) | Place::Next => Some(position),
        };
        if let Some(position) = position {
            put(c, turn, position, item, latency)?;
        }
    }
    for (position, item) in (depth..).zip(&entry.reply.calls) {
        put(c, turn, position, item, None)?;
    }
    Ok(())
}

/// Adds a call, or what is newly known of it. A result that stands already
/// keeps the time it took.
fn put(
    c: &Connection,
    turn: i64,
    position: i64,
    item: &ToolItem,
    latency: Option<i64>,
) -> rusqlite::Result<()> {
    let success = item.is_error.map(|failed| !failed);
    let error = item.output.as_ref().filter(|_| item.is_error == Some(true));
    c.prepare_cached(
        "INSERT INTO tool_calls (turn, position, call_id, name, input, output, success, error,
                                 latency_ms)
         VALUES (:turn, :position, :call, :name, :input, :output, :success, :error,
                 iif(:output IS NULL, NULL, :latency))
         ON CONFLICT (turn, position) DO UPDATE SET
             name = iif(excluded.name = '', name, excluded.name),
             input = iif(excluded.input = '', input, excluded.input),
             latency_ms = iif(output IS NULL, excluded.latency_ms, latency_ms),
             output = coalesce(excluded.output, output),
             success = coalesce(excluded.success, success),
             error = coalesce(excluded.error, error)",
    )?
    .execute(named_params! {
        ":turn": turn, ":position": position, ":call": item.call_id, ":name": item.name,
        ":input": item.input, ":output": item.output, ":success": success, ":error": error,
        ":latency": latency,
    })?;
    Ok(())
}

fn position_of(c: &Connection, turn: i64, call_id: &str) -> rusqlite::Result<Option<i64>> {
    c.prepare_cached("SELECT max(position) FROM tool_calls WHERE turn = ?1 AND call_id = ?2")?
        .query_row(params![turn, call_id], |row| row.get(0))
}

/// From the reply that called to the request that brought the results: what the
/// client and its tools took, in milliseconds.
fn latency(c: &Connection, entry: &Entry, turn: i64, depth: i64) -> rusqlite::Result<Option<i64>> {
    let called: Option<i64> = c
        .prepare_cached(
            "SELECT ended_at FROM replies WHERE turn = ?1 AND depth < ?2 ORDER BY depth DESC LIMIT 1",
        )?
        .query_row(params![turn, depth], |row| row.get(0))
        .optional()?;
    Ok(called.map(|called| (millis(entry.began) - called).max(0)))
}
