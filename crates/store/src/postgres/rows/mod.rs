//! Conversion between memories and rows.

pub(crate) mod labels;
pub(crate) mod text;

use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::{
    Row,
    types::{FromSql, ToSql},
};

use self::text::{decode, encode};
use crate::{
    UnreadableRows,
    micros::{micros, time_of},
    postgres::connection::fault::Fault,
};
use memgate_core::memory::{
    Memory, MemoryId, MemoryKind, MemoryType, Owner, Source, Status, StoreError, Write,
};

/// The columns of a memory, in the order that [`memory`] reads and [`values`] writes. `memories`
/// and `versions` both have them.
macro_rules! columns {
    () => {
        "owner, id, type, sub_type, project, agent, session, visibility, source, status, importance, \
         confidence, decay_score, version, access_count, last_accessed_at, created_at, updated_at, \
         event_time, valid_from, valid_until, expires_at, document, chunk, tags, metadata, relations, \
         provenance, content, raw, structured, mentions, entity_relations, kind, reply"
    };
}
pub(crate) use columns;

/// The columns with the audit details of a version.
macro_rules! write_columns {
    () => {
        "actor, reason, request_id"
    };
}
pub(crate) use write_columns;

/// The columns that are derived from a memory; only `memories` has them.
macro_rules! derived_columns {
    () => {
        "terms, folded, labels"
    };
}
pub(crate) use derived_columns;

/// Number of columns of a memory: the place of the first column after them.
pub(crate) const COLUMNS: usize = 35;

/// Values of an insert or update.
pub(crate) struct Values(Vec<Box<dyn ToSql + Sync + Send>>);

impl Values {
    /// The values, in order.
    pub(crate) fn all(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.0.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }

    /// Adds a value.
    pub(crate) fn and(mut self, value: impl ToSql + Sync + Send + 'static) -> Self {
        self.0.push(Box::new(value));
        self
    }

    /// Adds the derived columns.
    pub(crate) fn derived(self, memory: &Memory) -> Self {
        let lower = memory.lines().to_lowercase();
        let folded = (lower != memory.content).then(|| encode(&lower).into_owned());
        self.and(memory.terms().to_bytes()).and(folded).and(labels::labels(memory))
    }
}

/// The values of a memory and its write, in the order of their columns.
pub(crate) fn values(memory: &Memory, write: &Write) -> Result<Values, StoreError> {
    let m = memory;
    Ok(Values(Vec::with_capacity(COLUMNS + 7))
        .and(m.owner.key())
        .and(stored(m.id.as_str()))
        .and(stored(m.memory_type.as_str()))
        .and(m.sub_type.as_deref().map(stored))
        .and(m.project_id.as_deref().map(stored))
        .and(m.agent_id.as_deref().map(stored))
        .and(m.session_id.as_deref().map(stored))
        .and(json(&m.visibility)?)
        .and(m.source.name())
        .and(m.status.name())
        .and(m.importance)
        .and(m.confidence)
        .and(m.decay_score)
        .and(i64::from(m.version))
        .and(i64::try_from(m.access_count).unwrap_or(i64::MAX))
        .and(m.last_accessed_at.map(micros))
        .and(micros(m.created_at))
        .and(micros(m.updated_at))
        .and(m.event_time.map(micros))
        .and(m.valid_from.map(micros))
        .and(m.valid_until.map(micros))
        .and(m.expires_at.map(micros))
        .and(m.document_id.as_deref().map(stored))
        .and(m.chunk.map(i64::from))
        .and(json(&m.tags)?)
        .and(json(&m.metadata)?)
        .and(json(&m.relations)?)
        .and(json(&m.provenance)?)
        .and(stored(&m.content))
        .and(m.raw.as_deref().map(stored))
        .and(m.structured.as_ref().map(json).transpose()?)
        .and(json(&m.mentions)?)
        .and(json(&m.entity_relations)?)
        .and(m.kind.name())
        .and(m.reply.as_deref().map(stored))
        .and(write.actor.name())
        .and(write.reason)
        .and(write.request_id.as_deref().map(stored)))
}

/// A text as stored.
pub(crate) fn stored(text: &str) -> String {
    encode(text).into_owned()
}

/// The memory of a row that begins with the columns. A row of another owner is an error, whatever
/// the query was.
pub(crate) fn memory(row: &Row, owner: &Owner) -> Result<Memory, Fault> {
    if get::<&str>(row, 0, "owner")? != owner.key() {
        tracing::error!("a query returned a row of another owner, which is withheld");
        return Err(Fault::Unreadable("owner"));
    }
    read(row, owner.clone())
}

/// As [`memory`], for any owner.
pub(crate) fn anyones_memory(row: &Row) -> Result<Memory, Fault> {
    read(row, owner_of(row, 0)?)
}

/// The owner of a partition key.
pub(crate) fn owner_of(row: &Row, column: usize) -> Result<Owner, Fault> {
    Owner::from_key(get(row, column, "owner")?).ok_or(Fault::Unreadable("owner"))
}

fn read(row: &Row, owner: Owner) -> Result<Memory, Fault> {
    Ok(Memory {
        owner,
        id: MemoryId::from_outside(text(row, 1, "id")?),
        memory_type: MemoryType::new(text(row, 2, "type")?),
        sub_type: name(row, 3, "sub_type")?,
        project_id: name(row, 4, "project")?,
        agent_id: name(row, 5, "agent")?,
        session_id: name(row, 6, "session")?,
        visibility: from_json(row, 7, "visibility")?,
        source: Source::from_name(get(row, 8, "source")?).ok_or(Fault::Unreadable("source"))?,
        status: Status::from_name(get(row, 9, "status")?).ok_or(Fault::Unreadable("status"))?,
        importance: get(row, 10, "importance")?,
        confidence: get(row, 11, "confidence")?,
        decay_score: get(row, 12, "decay_score")?,
        version: number(row, 13, "version")?,
        access_count: number(row, 14, "access_count")?,
        last_accessed_at: time(row, 15, "last_accessed_at")?,
        created_at: time(row, 16, "created_at")?.ok_or(Fault::Unreadable("created_at"))?,
        updated_at: time(row, 17, "updated_at")?.ok_or(Fault::Unreadable("updated_at"))?,
        event_time: time(row, 18, "event_time")?,
        valid_from: time(row, 19, "valid_from")?,
        valid_until: time(row, 20, "valid_until")?,
        expires_at: time(row, 21, "expires_at")?,
        document_id: name(row, 22, "document")?,
        chunk: match get::<Option<i64>>(row, 23, "chunk")? {
            Some(_) => Some(number(row, 23, "chunk")?),
            None => None,
        },
        tags: from_json(row, 24, "tags")?,
        metadata: from_json(row, 25, "metadata")?,
        relations: from_json(row, 26, "relations")?,
        provenance: from_json(row, 27, "provenance")?,
        content: text(row, 28, "content")?,
        raw: name(row, 29, "raw text")?,
        structured: match get::<Option<&str>>(row, 30, "structured form")? {
            Some(_) => Some(from_json(row, 30, "structured form")?),
            None => None,
        },
        mentions: from_json(row, 31, "mentions")?,
        entity_relations: from_json(row, 32, "entity relations")?,
        kind: MemoryKind::from_name(get(row, 33, "kind")?).ok_or(Fault::Unreadable("kind"))?,
        reply: name(row, 34, "reply")?,
    })
}

/// What was read of a row of the memory with this id; `None` where a value in it cannot be read: the row is passed over.
pub(crate) fn readable<T>(
    rows: &UnreadableRows,
    id: &str,
    read: Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Fault::Unreadable(value)) => {
            rows.pass_over(id, value);
            Ok(None)
        }
        Err(fault) => Err(fault),
    }
}

/// The memory of a row as [`memory`] or [`anyones_memory`] reads it, where it can be read.
pub(crate) fn readable_row<T>(
    rows: &UnreadableRows,
    row: &Row,
    read: impl FnOnce(&Row) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    let id = get::<&str>(row, 1, "id").unwrap_or_default();
    readable(rows, id, read(row))
}

/// The value of a column. The error names only the column.
pub(crate) fn get<'a, T: FromSql<'a>>(
    row: &'a Row,
    column: usize,
    name: &'static str,
) -> Result<T, Fault> {
    row.try_get(column).map_err(|_| Fault::Unreadable(name))
}

fn text(row: &Row, column: usize, name: &'static str) -> Result<String, Fault> {
    decode(get(row, column, name)?).ok_or(Fault::Unreadable(name))
}

/// A text that may be NULL.
pub(crate) fn name(row: &Row, column: usize, name: &'static str) -> Result<Option<String>, Fault> {
    let stored: Option<&str> = get(row, column, name)?;
    stored.map(|stored| decode(stored).ok_or(Fault::Unreadable(name))).transpose()
}

fn number<T: TryFrom<i64>>(row: &Row, column: usize, name: &'static str) -> Result<T, Fault> {
    T::try_from(get::<i64>(row, column, name)?).map_err(|_| Fault::Unreadable(name))
}

fn time(row: &Row, column: usize, name: &'static str) -> Result<Option<Timestamp>, Fault> {
    let micros: Option<i64> = get(row, column, name)?;
    micros.map(|micros| time_of(micros).ok_or(Fault::Unreadable(name))).transpose()
}

/// A value as JSON text.
pub(crate) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::Invalid {
        field: "memory",
        cause: "cannot be written as JSON".to_owned(),
    })
}

pub(crate) fn from_json<T: DeserializeOwned>(
    row: &Row,
    column: usize,
    name: &'static str,
) -> Result<T, Fault> {
    // The parser's message would quote stored content.
    serde_json::from_str(get(row, column, name)?).map_err(|_| Fault::Unreadable(name))
}
