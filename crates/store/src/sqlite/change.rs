//! Writes. Each function is one job of the writer, which is committed or undone as a whole.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::{
    dense,
    micros::micros,
    sqlite::{
        entities,
        index::space_number,
        rows::{COLUMNS, VALUES, WRITE_COLUMNS, answer, json, values},
        search::by_id,
    },
    validate::{self, MAX_ACCESS_COUNT, to_microsecond},
};
use memgate_core::memory::{
    Embedding, ForgetScope, Memory, MemoryId, Owner, StoreError, Touch, Write,
};

/// The inner error is an answer: the job has changed nothing before it.
pub(super) type Answer<T> = rusqlite::Result<Result<T, StoreError>>;

/// Inserts a new memory.
pub(super) fn store(
    connection: &Connection,
    memory: Memory,
    vectors: &[Embedding],
    write: &Write,
) -> Answer<Memory> {
    if row_and_version(connection, &memory.owner, &memory.id)?.is_some() {
        return Ok(Err(StoreError::Exists));
    }
    insert(connection, &memory, vectors, write)?;
    Ok(Ok(memory))
}

/// Inserts a memory that does not exist yet; returns its row.
pub(super) fn insert(
    connection: &Connection,
    memory: &Memory,
    vectors: &[Embedding],
    write: &Write,
) -> rusqlite::Result<i64> {
    let sql = format!(
        "INSERT INTO memories ({COLUMNS}, {WRITE_COLUMNS}, terms) VALUES ({})",
        places(VALUES)
    );
    let row = connection.prepare_cached(&sql)?.insert(params_from_iter(values(memory, write)?))?;
    put_vectors(connection, row, vectors)?;
    entities::put(connection, row, memory)?;
    Ok(row)
}

/// Writes a new version of a memory, and the old one to the history.
pub(super) fn update(
    connection: &Connection,
    mut memory: Memory,
    vectors: Option<&[Embedding]>,
    write: &Write,
) -> Answer<Memory> {
    let (row, old) = match answer(by_id(connection, &memory.owner, memory.id.as_str()))? {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Err(StoreError::NotFound)),
        Err(unreadable) => return Ok(Err(unreadable)),
    };
    if let Err(conflict) = validate::succeed(&mut memory, &old) {
        return Ok(Err(conflict));
    }
    let keep = format!(
        "INSERT INTO versions (memory, {COLUMNS}, {WRITE_COLUMNS}) \
         SELECT row, {COLUMNS}, {WRITE_COLUMNS} FROM memories WHERE row = ?1"
    );
    connection.prepare_cached(&keep)?.execute([row])?;
    let change = format!(
        "UPDATE memories SET ({COLUMNS}, {WRITE_COLUMNS}, terms) = ({}) WHERE row = ?",
        places(VALUES)
    );
    let values = values(&memory, write)?.into_iter().chain([row.into()]);
    connection.prepare_cached(&change)?.execute(params_from_iter(values))?;
    match vectors {
        Some(vectors) => replace_vectors(connection, row, vectors, |_| true)?,
        None if old.passages() != memory.passages() => {
            replace_vectors(connection, row, &[], |_| true)?;
        }
        None => {}
    }
    entities::replace(connection, row, &old, &memory)?;
    Ok(Ok(memory))
}

/// Updates the amendable columns of a memory in place.
pub(super) fn amend(connection: &Connection, memory: &Memory) -> Answer<()> {
    let Some((row, version)) = row_and_version(connection, &memory.owner, &memory.id)? else {
        return Ok(Err(StoreError::NotFound));
    };
    if let Err(conflict) = validate::same_version(memory.version, version) {
        return Ok(Err(conflict));
    }
    connection
        .prepare_cached(
            "UPDATE memories SET session = ?2, confidence = ?3, metadata = ?4, provenance = ?5 \
             WHERE row = ?1",
        )?
        .execute((
            row,
            &memory.session_id,
            memory.confidence,
            json(&memory.metadata)?,
            json(&memory.provenance)?,
        ))?;
    Ok(Ok(()))
}

/// Moves the expiry of an owner's memories that expire.
pub(super) fn keep_until(
    connection: &Connection,
    owner: &str,
    until: i64,
    now: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE memories SET expires_at = max(expires_at, ?2)
             WHERE owner = ?1 AND expires_at > ?3",
        )?
        .execute((owner, until, now))
        .map(drop)
}

/// Replaces a memory's vectors in the given spaces.
pub(super) fn embed(
    connection: &Connection,
    owner: &Owner,
    id: &MemoryId,
    version: u32,
    vectors: &[Embedding],
) -> rusqlite::Result<()> {
    let mut spaces = HashSet::new();
    for vector in vectors {
        spaces.insert(make_space(connection, &vector.space)?);
    }
    match row_and_version(connection, owner, id)? {
        Some((row, stored)) if stored == version => {
            replace_vectors(connection, row, vectors, |space| spaces.contains(&space))
        }
        _ => Ok(()),
    }
}

/// Removes the earlier versions of a memory.
pub(super) fn forget_history(
    connection: &Connection,
    owner: &Owner,
    id: &MemoryId,
) -> rusqlite::Result<u64> {
    let Some((row, _)) = row_and_version(connection, owner, id)? else { return Ok(0) };
    let removed =
        connection.prepare_cached("DELETE FROM versions WHERE memory = ?1")?.execute([row])?;
    Ok(removed as u64)
}

/// Removes a memory with its history and vectors.
pub(super) fn forget(
    connection: &Connection,
    owner: &Owner,
    id: &MemoryId,
) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("DELETE FROM memories WHERE owner = ?1 AND id = ?2")?
        .execute((owner.key(), id.as_str()))
        .map(|removed| removed as u64)
}

/// Removes everything in a scope.
pub(super) fn forget_by_scope(
    connection: &Connection,
    scope: &ForgetScope,
) -> rusqlite::Result<u64> {
    let owner = scope.owner.key();
    let removed = match &scope.project_id {
        None => connection.execute("DELETE FROM memories WHERE owner = ?1", [owner]),
        Some(project) => connection
            .execute("DELETE FROM memories WHERE owner = ?1 AND project = ?2", (owner, project)),
    };
    removed.map(|removed| removed as u64)
}

/// Increments access counts of memories that still exist.
pub(super) fn touch(connection: &Connection, touches: &[Touch]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE memories SET access_count = min(access_count, {MAX_ACCESS_COUNT} - 1) + 1, \
             last_accessed_at = max(ifnull(last_accessed_at, ?3), ?3) \
         WHERE owner = ?1 AND id = ?2"
    ))?;
    for touch in touches {
        let at = micros(to_microsecond(touch.at));
        statement.execute((touch.owner.key(), touch.id.as_str(), at))?;
    }
    Ok(())
}

fn row_and_version(
    connection: &Connection,
    owner: &Owner,
    id: &MemoryId,
) -> rusqlite::Result<Option<(i64, u32)>> {
    connection
        .prepare_cached("SELECT row, version FROM memories WHERE owner = ?1 AND id = ?2")?
        .query_row((owner.key(), id.as_str()), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// Writes vectors over existing ones of the same space and part.
fn put_vectors(connection: &Connection, row: i64, vectors: &[Embedding]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO vectors (memory, space, part, coordinates) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (memory, space, part) DO UPDATE SET coordinates = excluded.coordinates",
    )?;
    for vector in vectors {
        let space = make_space(connection, &vector.space)?;
        statement.execute((row, space, vector.part, dense::to_bytes(&vector.values)))?;
    }
    Ok(())
}

/// Writes vectors, and removes all others of the spaces in `replaced`. Existing vectors are
/// overwritten instead of removed, so that a removal always means that the memory has lost a
/// vector.
fn replace_vectors(
    connection: &Connection,
    row: i64,
    vectors: &[Embedding],
    replaced: impl Fn(i64) -> bool,
) -> rusqlite::Result<()> {
    put_vectors(connection, row, vectors)?;
    let mut kept = HashSet::new();
    for vector in vectors {
        kept.insert((make_space(connection, &vector.space)?, vector.part));
    }
    let mut statement =
        connection.prepare_cached("SELECT space, part FROM vectors WHERE memory = ?1")?;
    let stored = statement.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let stored: Vec<(i64, u16)> = stored.collect::<rusqlite::Result<_>>()?;
    let mut remove = connection
        .prepare_cached("DELETE FROM vectors WHERE memory = ?1 AND space = ?2 AND part = ?3")?;
    for (space, part) in stored {
        if replaced(space) && !kept.contains(&(space, part)) {
            remove.execute((row, space, part))?;
        }
    }
    Ok(())
}

/// The number of a space, created on first use.
fn make_space(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    if let Some(number) = space_number(connection, name)? {
        return Ok(number);
    }
    connection.prepare_cached("INSERT INTO spaces (name) VALUES (?1)")?.insert([name])
}

/// `count` parameters: `?, ?, …`.
pub(super) fn places(count: usize) -> String {
    vec!["?"; count].join(", ")
}
