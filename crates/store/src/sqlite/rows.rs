//! Conversion between memories and rows.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::{
    Row,
    types::{Type, Value},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    UnreadableRows,
    micros::{micros, time_of},
};
use memgate_core::memory::{
    Memory, MemoryId, MemoryKind, MemoryType, Owner, Source, Status, StoreError, Write,
};

/// The columns of a memory, in the order that [`memory`] reads and [`values`] writes. `memories`
/// and `versions` both have them.
pub(super) const COLUMNS: &str = "owner, id, type, sub_type, project, agent, session, visibility, \
     source, status, importance, confidence, decay_score, version, access_count, last_accessed_at, \
     created_at, updated_at, event_time, valid_from, valid_until, expires_at, document, chunk, tags, \
     metadata, relations, provenance, content, raw, structured, mentions, entity_relations, kind, reply";

/// The columns with the audit details of a version.
pub(super) const WRITE_COLUMNS: &str = "actor, reason, request_id";

/// Number of values that [`values`] returns: the columns above and `terms`.
pub(super) const VALUES: usize = 35 + 3 + 1;

/// The values of a memory for `COLUMNS`, `WRITE_COLUMNS` and `terms`.
pub(super) fn values(memory: &Memory, write: &Write) -> rusqlite::Result<[Value; VALUES]> {
    let m = memory;
    let structured = m.structured.as_ref().map(json).transpose()?;
    Ok([
        m.owner.key().into(),
        m.id.as_str().to_owned().into(),
        m.memory_type.as_str().to_owned().into(),
        m.sub_type.clone().into(),
        m.project_id.clone().into(),
        m.agent_id.clone().into(),
        m.session_id.clone().into(),
        json(&m.visibility)?.into(),
        m.source.name().to_owned().into(),
        m.status.name().to_owned().into(),
        f64::from(m.importance).into(),
        m.confidence.map(f64::from).into(),
        m.decay_score.map(f64::from).into(),
        m.version.into(),
        i64::try_from(m.access_count).unwrap_or(i64::MAX).into(),
        m.last_accessed_at.map(micros).into(),
        micros(m.created_at).into(),
        micros(m.updated_at).into(),
        m.event_time.map(micros).into(),
        m.valid_from.map(micros).into(),
        m.valid_until.map(micros).into(),
        m.expires_at.map(micros).into(),
        m.document_id.clone().into(),
        m.chunk.into(),
        json(&m.tags)?.into(),
        json(&m.metadata)?.into(),
        json(&m.relations)?.into(),
        json(&m.provenance)?.into(),
        m.content.clone().into(),
        m.raw.clone().into(),
        structured.into(),
        json(&m.mentions)?.into(),
        json(&m.entity_relations)?.into(),
        m.kind.name().to_owned().into(),
        m.reply.clone().into(),
        write.actor.name().to_owned().into(),
        write.reason.to_owned().into(),
        write.request_id.clone().into(),
        m.terms().to_bytes().into(),
    ])
}

/// The memory of a row that begins with `COLUMNS`. A row of another owner is an error, whatever the
/// query was.
pub(super) fn memory(row: &Row<'_>, owner: &Owner) -> rusqlite::Result<Memory> {
    if row.get_ref(0)?.as_str()? != owner.key() {
        tracing::error!("a query returned a row of another owner, which is withheld");
        return Err(unreadable(0, "owner"));
    }
    read(row, owner.clone())
}

/// As [`memory`], for any owner.
pub(super) fn anyones_memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    read(row, owner_of(row, 0)?)
}

/// The owner of a partition key.
fn owner_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Owner> {
    let owner = Owner::from_key(row.get_ref(column)?.as_str()?);
    owner.ok_or_else(|| unreadable(column, "owner"))
}

fn read(row: &Row<'_>, owner: Owner) -> rusqlite::Result<Memory> {
    let source: Cow<'_, str> = text(row, 8)?;
    let status: Cow<'_, str> = text(row, 9)?;
    Ok(Memory {
        owner,
        id: MemoryId::from_outside(row.get::<_, String>(1)?),
        memory_type: MemoryType::new(row.get::<_, String>(2)?),
        sub_type: row.get(3)?,
        project_id: row.get(4)?,
        agent_id: row.get(5)?,
        session_id: row.get(6)?,
        visibility: from_json(row, 7, "visibility")?,
        source: Source::from_name(&source).ok_or_else(|| unreadable(8, "source"))?,
        status: Status::from_name(&status).ok_or_else(|| unreadable(9, "status"))?,
        importance: row.get(10)?,
        confidence: row.get(11)?,
        decay_score: row.get(12)?,
        version: row.get(13)?,
        access_count: u64::try_from(row.get::<_, i64>(14)?)
            .map_err(|_| unreadable(14, "access_count"))?,
        last_accessed_at: time(row, 15)?,
        created_at: time(row, 16)?.ok_or_else(|| unreadable(16, "created_at"))?,
        updated_at: time(row, 17)?.ok_or_else(|| unreadable(17, "updated_at"))?,
        event_time: time(row, 18)?,
        valid_from: time(row, 19)?,
        valid_until: time(row, 20)?,
        expires_at: time(row, 21)?,
        document_id: row.get(22)?,
        chunk: row.get(23)?,
        tags: list(row, 24, "tags")?,
        metadata: from_json(row, 25, "metadata")?,
        relations: list(row, 26, "relations")?,
        provenance: from_json(row, 27, "provenance")?,
        content: row.get(28)?,
        raw: row.get(29)?,
        structured: match row.get_ref(30)? {
            rusqlite::types::ValueRef::Null => None,
            _ => Some(from_json(row, 30, "structured")?),
        },
        mentions: list(row, 31, "mentions")?,
        entity_relations: list(row, 32, "entity relations")?,
        kind: MemoryKind::from_name(&text(row, 33)?).ok_or_else(|| unreadable(33, "kind"))?,
        reply: row.get(34)?,
    })
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Cow<'a, str>> {
    Ok(Cow::Borrowed(row.get_ref(column)?.as_str()?))
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let micros: Option<i64> = row.get(column)?;
    micros.map(|micros| time_of(micros).ok_or_else(|| unreadable(column, "time"))).transpose()
}

/// A value as JSON text.
pub(super) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// A list; the common empty list needs no parser.
fn list<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    name: &'static str,
) -> rusqlite::Result<Vec<T>> {
    match row.get_ref(column)?.as_str()? {
        "[]" => Ok(Vec::new()),
        _ => from_json(row, column, name),
    }
}

fn from_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    name: &'static str,
) -> rusqlite::Result<T> {
    // The parser's message would quote stored content.
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|_| unreadable(column, name))
}

/// A stored value that memgate could not have written.
#[derive(Debug, thiserror::Error)]
#[error("the stored {0} of a memory cannot be read")]
struct Unreadable(&'static str);

/// The error names only the column.
fn unreadable(column: usize, name: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(Unreadable(name)))
}

/// What cannot be read, where it is a value in a row; `None` for failures of the database.
fn unreadable_value(error: &rusqlite::Error) -> Option<&'static str> {
    match error {
        rusqlite::Error::FromSqlConversionFailure(_, _, cause) => {
            Some(cause.downcast_ref::<Unreadable>().map_or("value", |Unreadable(name)| *name))
        }
        rusqlite::Error::IntegralValueOutOfRange(..) => Some("number"),
        rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::Utf8Error(..) => Some("value"),
        _ => None,
    }
}

/// What was read of a row of the memory with this id; `None` where a value in it cannot be read: the row is passed over.
pub(super) fn readable<T>(
    rows: &UnreadableRows,
    id: &str,
    read: rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) => {
            let value = unreadable_value(&error).ok_or(error)?;
            rows.pass_over(id, value);
            Ok(None)
        }
    }
}

/// The memory of a row as [`memory`] or [`anyones_memory`] reads it, where it can be read.
pub(super) fn readable_row<T>(
    rows: &UnreadableRows,
    row: &Row<'_>,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    // All that read a memory read its columns first.
    let id = row.get_ref(1)?.as_str().unwrap_or_default();
    readable(rows, id, read(row))
}

/// For a read of one memory, an unreadable value is the answer.
pub(super) fn answer<T>(read: rusqlite::Result<T>) -> rusqlite::Result<Result<T, StoreError>> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(error) => {
            let value = unreadable_value(&error).ok_or(error)?;
            Ok(Err(StoreError::Unreadable(value)))
        }
    }
}
