//! Reads and writes complete memories, for export and import.

use rusqlite::{Connection, Row, params_from_iter};

use crate::{
    UnreadableRows, dense,
    scan_cursor::ScanCursor,
    sqlite::{
        change::{self, Answer, places},
        rows::{
            COLUMNS, VALUES, WRITE_COLUMNS, answer, anyones_memory, memory, readable, readable_row,
            values,
        },
        search::by_id,
    },
    validate::MAX_SCAN_BYTES,
};
use memgate_core::memory::{Embedding, Memory, Owner, Restored, Scan, Whole, Write};

/// A piece of an owner's memories, or of all owners', after a cursor.
pub(super) fn scan(
    connection: &Connection,
    unreadable: &UnreadableRows,
    owner: Option<&Owner>,
    after: &ScanCursor,
    limit: usize,
) -> rusqlite::Result<Scan> {
    let which = match owner {
        Some(_) => "owner = ?1 AND id > ?2",
        None => "(owner, id) > (?1, ?2)",
    };
    let sql = format!("SELECT {COLUMNS}, row FROM memories WHERE {which} ORDER BY owner, id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((&after.owner, &after.id))?;
    let mut scan = Scan { found: Vec::new(), next: None };
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if scan.found.len() >= limit || bytes >= MAX_SCAN_BYTES {
            scan.next = scan.found.last().map(|last| ScanCursor::of(&last.memory).to_string());
            break;
        }
        let current = readable_row(unreadable, row, |row| match owner {
            Some(owner) => memory(row, owner),
            None => anyones_memory(row),
        })?;
        let Some(current) = current else { continue };
        let found = whole(connection, unreadable, row.get("row")?, current)?;
        bytes += found.bytes();
        scan.found.push(found);
    }
    Ok(scan)
}

/// Inserts a memory unchanged, unless its owner already has one with this id.
pub(super) fn restore(
    connection: &Connection,
    unreadable: &UnreadableRows,
    given: Whole,
    write: &Write,
) -> Answer<Restored> {
    match answer(by_id(connection, &given.memory.owner, given.memory.id.as_str()))? {
        Ok(Some((row, stored))) => {
            let same = given.is_kept_by(&whole(connection, unreadable, row, stored)?);
            return Ok(Ok(if same { Restored::Same } else { Restored::Differs }));
        }
        Err(_) => return Ok(Ok(Restored::Differs)),
        Ok(None) => {}
    }
    let Whole { memory, history, vectors } = given;
    let row = change::insert(connection, &memory, &vectors, write)?;
    let sql = format!(
        "INSERT INTO versions (memory, {COLUMNS}, {WRITE_COLUMNS}) VALUES ({})",
        places(VALUES)
    );
    let mut insert = connection.prepare_cached(&sql)?;
    for version in &history {
        // The last value is the content's terms, which earlier versions do not have.
        let columns = values(version, write)?.into_iter().take(VALUES - 1);
        insert.execute(params_from_iter([row.into()].into_iter().chain(columns)))?;
    }
    Ok(Ok(Restored::Written))
}

/// A memory with its history and vectors, as far as they can be read.
fn whole(
    connection: &Connection,
    unreadable: &UnreadableRows,
    row: i64,
    current: Memory,
) -> rusqlite::Result<Whole> {
    let sql = format!("SELECT {COLUMNS} FROM versions WHERE memory = ?1 ORDER BY version");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([row])?;
    let mut history = Vec::new();
    while let Some(row) = rows.next()? {
        history.extend(readable_row(unreadable, row, |row| memory(row, &current.owner))?);
    }
    let mut statement = connection.prepare_cached(
        "SELECT name, part, coordinates FROM vectors JOIN spaces USING (space) \
         WHERE memory = ?1 ORDER BY name, part",
    )?;
    let mut rows = statement.query([row])?;
    let mut vectors = Vec::new();
    while let Some(row) = rows.next()? {
        vectors.extend(readable(unreadable, current.id.as_str(), embedding(row))?);
    }
    Ok(Whole { memory: current, history, vectors })
}

fn embedding(row: &Row<'_>) -> rusqlite::Result<Embedding> {
    let mut values = Vec::new();
    dense::from_bytes(row.get_ref(2)?.as_blob()?, &mut values);
    let space = row.get_ref(0)?.as_str()?.into();
    Ok(Embedding { space, part: row.get(1)?, values: values.into() })
}
