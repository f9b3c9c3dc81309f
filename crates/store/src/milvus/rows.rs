//! Conversion between memories and rows of Milvus.
//!
//! The `record` is the memory as JSON and is the source for reads; the other fields are copies for
//! filters. Text longer than a field continues in further rows (`piece`).

use std::collections::{BTreeMap, HashMap};

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use milvus::v2::types::{FieldData, ResultRow};
use serde_json::json;

use crate::{
    UnreadableRows,
    micros::micros,
    milvus::{
        connection::fault::Fault,
        fields::{KEY, READERS, VECTOR},
        schema::{MAX_TEXT, RECORD_DIMENSION},
    },
};
use memgate_core::memory::{Embedding, Memory, MemoryId, Owner, Reader, Visibility};
use memgate_text::index::Terms;

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(super) enum Kind {
    /// The current state of a memory; the highest revision wins.
    Current = 0,
    /// An earlier version.
    Earlier = 1,
    /// A continuation of a record.
    Piece = 2,
}

/// The vectors of a memory in a space: their revision and number of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) revision: i64,
    pub(super) parts: u16,
}

/// By space.
pub(super) type Spaces = BTreeMap<String, Placed>;

/// A memory as stored in Milvus.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) memory: Memory,
    pub(super) revision: i64,
    pub(super) spaces: Spaces,
}

/// Key of a memory; it cannot be guessed from another owner's.
pub(super) fn memory_key(owner: &Owner, id: &MemoryId) -> String {
    let derived = MemoryId::derived(&["milvus", &owner.key(), id.as_str()]);
    derived.as_str().trim_start_matches("mem_").to_owned()
}

/// Keys of the rows of a memory's current state in this revision.
pub(super) fn record_keys(
    memory: &str,
    revision: i64,
    pieces: i64,
) -> impl Iterator<Item = String> {
    row_keys(format!("{memory}.{revision}"), pieces)
}

fn row_keys(first: String, pieces: i64) -> impl Iterator<Item = String> {
    (0..pieces.max(1)).map(move |piece| match piece {
        0 => first.clone(),
        more => format!("{first}.{more}"),
    })
}

/// Whether a row's key belongs to an earlier version of this memory.
pub(super) fn is_earlier(key: &str, memory: &str) -> bool {
    key.strip_prefix(memory).is_some_and(|rest| rest.starts_with(".v"))
}

/// Keys of the vectors of one memory in a space.
pub(super) fn vector_keys(memory: &str, placed: Placed) -> impl Iterator<Item = String> {
    (0..placed.parts).map(move |part| vector_key(memory, placed.revision, part))
}

fn vector_key(memory: &str, revision: i64, part: u16) -> String {
    format!("{memory}.{revision}.{part}")
}

/// Memory, revision and part of a vector's key.
pub(super) fn read_vector_key(key: &str) -> Option<(&str, i64, u16)> {
    let mut parts = key.splitn(3, '.');
    Some((parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Splits a text into pieces of the maximum field size.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > MAX_TEXT {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(MAX_TEXT));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Rows of records, in columns.
#[derive(Default)]
pub(super) struct RecordRows {
    text: HashMap<&'static str, Vec<String>>,
    number: HashMap<&'static str, Vec<i64>>,
    kind: Vec<i8>,
    importance: Vec<f32>,
    metadata: Vec<serde_json::Value>,
    spaces: Vec<serde_json::Value>,
    readers: Vec<serde_json::Value>,
    vectors: Vec<Vec<f32>>,
}

impl RecordRows {
    /// Adds one state of a memory; returns its number of rows.
    pub(super) fn push(&mut self, kind: Kind, stored: &Stored) -> Result<i64, serde_json::Error> {
        let memory = &stored.memory;
        let mut record = serde_json::to_value(memory)?;
        let fits = memory.content.len() <= MAX_TEXT;
        if fits {
            record["content"] = "".into();
        }
        let record = record.to_string();
        // Needed only for search; if they do not fit they are computed from the content.
        let terms = match kind {
            Kind::Current => STANDARD_NO_PAD.encode(memory.terms().to_bytes()),
            Kind::Earlier | Kind::Piece => String::new(),
        };
        let terms = if terms.len() <= MAX_TEXT { terms } else { String::new() };
        let pieces = pieces(&record);
        let count = i64::try_from(pieces.len()).unwrap_or(i64::MAX);
        let key = memory_key(&memory.owner, &memory.id);
        let keys = match kind {
            // An earlier version is unique, however often it is written.
            Kind::Earlier => row_keys(format!("{key}.v{}", memory.version), count),
            Kind::Current | Kind::Piece => row_keys(format!("{key}.{}", stored.revision), count),
        };
        for ((piece, key), first) in
            pieces.into_iter().zip(keys).zip(std::iter::once(true).chain(std::iter::repeat(false)))
        {
            self.row(if first { kind } else { Kind::Piece }, stored, key, count);
            let content = if first && fits { memory.content.as_str() } else { "" };
            self.text("content", content);
            self.text("record", piece);
            self.text("terms", if first { &terms } else { "" });
        }
        Ok(count)
    }

    /// Fields for filters.
    fn row(&mut self, kind: Kind, stored: &Stored, key: String, pieces: i64) {
        let memory = &stored.memory;
        let owner = &memory.owner;
        self.kind.push(kind as i8);
        self.text(KEY, &key);
        self.text("owner", &owner.key());
        self.text("memory", &memory_key(owner, &memory.id));
        self.text("id", memory.id.as_str());
        self.text("tenant_id", owner.tenant());
        self.text("user_id", owner.user().unwrap_or_default());
        self.text("memory_kind", memory.kind.name());
        self.text("type", memory.memory_type.as_str());
        self.text("project_id", memory.project_id.as_deref().unwrap_or_default());
        self.text("agent_id", memory.agent_id.as_deref().unwrap_or_default());
        self.text("session_id", memory.session_id.as_deref().unwrap_or_default());
        self.text("status", memory.status.name());
        self.text("source", memory.source.name());
        self.number("revision", stored.revision);
        self.number("pieces", pieces);
        self.number("version", memory.version.into());
        self.number("created_at", micros(memory.created_at));
        self.number("updated_at", micros(memory.updated_at));
        self.number("event_time", memory.event_time.map_or(i64::MIN, micros));
        self.number("expires_at", memory.expires_at.map_or(i64::MAX, micros));
        self.importance.push(memory.importance);
        let metadata = serde_json::Value::Object(memory.metadata.clone());
        let fits = metadata.to_string().len() <= MAX_TEXT;
        self.metadata.push(if fits { metadata } else { json!({}) });
        self.spaces.push(write_spaces(&stored.spaces));
        self.readers.push(json!({"in": readers(&memory.visibility)}));
        let mut vector = vec![0.0; RECORD_DIMENSION];
        vector[0] = 1.0;
        self.vectors.push(vector);
    }

    fn text(&mut self, name: &'static str, value: &str) {
        self.text.entry(name).or_default().push(value.to_owned());
    }

    fn number(&mut self, name: &'static str, value: i64) {
        self.number.entry(name).or_default().push(value);
    }

    /// The columns as sent to the server.
    pub(super) fn columns(self) -> Vec<FieldData> {
        let text = self.text.into_iter();
        let number = self.number.into_iter();
        let mut columns: Vec<FieldData> = text
            .map(|(name, values)| FieldData::VarChar { name: name.into(), values })
            .chain(number.map(|(name, values)| FieldData::Int64 { name: name.into(), values }))
            .collect();
        columns.push(FieldData::Int8 { name: "kind".into(), values: self.kind });
        columns.push(FieldData::Float { name: "importance".into(), values: self.importance });
        columns.push(FieldData::Json { name: "metadata".into(), values: self.metadata });
        columns.push(FieldData::Json { name: "spaces".into(), values: self.spaces });
        columns.push(FieldData::Json { name: READERS.into(), values: self.readers });
        columns.push(FieldData::FloatVector { name: VECTOR.into(), values: self.vectors });
        columns
    }
}

/// Rows of vectors, in columns.
pub(super) fn vector_columns(
    owner: &Owner,
    memory: &str,
    revision: i64,
    vectors: &[&Embedding],
) -> Vec<FieldData> {
    let texts = |name: &str, of: &dyn Fn(&Embedding) -> String| FieldData::VarChar {
        name: name.into(),
        values: vectors.iter().map(|vector| of(vector)).collect(),
    };
    vec![
        texts(KEY, &|vector| vector_key(memory, revision, vector.part)),
        texts("owner", &|_| owner.key()),
        texts("memory", &|_| memory.to_owned()),
        FieldData::FloatVector {
            name: VECTOR.into(),
            values: vectors.iter().map(|vector| vector.values.to_vec()).collect(),
        },
    ]
}

/// `{"in": [space, …], "at": {space: [revision, parts]}}`: the list is for the server, which can
/// only test list membership; the rest is for us.
fn write_spaces(spaces: &Spaces) -> serde_json::Value {
    let at: serde_json::Map<_, _> = spaces
        .iter()
        .map(|(space, placed)| (space.clone(), json!([placed.revision, placed.parts])))
        .collect();
    json!({"in": spaces.keys().collect::<Vec<_>>(), "at": at})
}

/// The vectors of a row's memory.
pub(super) fn read_spaces(row: &ResultRow<'_>) -> Result<Spaces, Fault> {
    let spaces = row.get_json("spaces")?;
    let Some(at) = spaces["at"].as_object() else { return Ok(Spaces::new()) };
    let placed = at.iter().filter_map(|(space, placed)| {
        let revision = placed[0].as_i64()?;
        let parts = u16::try_from(placed[1].as_u64()?).ok()?;
        Some((space.clone(), Placed { revision, parts }))
    });
    Ok(placed.collect())
}

/// Term counts of a row's memory; `None` if they must be computed from its content.
pub(super) fn read_terms(row: &ResultRow<'_>) -> Result<Option<Terms>, Fault> {
    let bytes = STANDARD_NO_PAD.decode(row.get_str("terms")?);
    Ok(bytes.ok().and_then(|bytes| Terms::from_bytes(&bytes)))
}

/// The fields that [`Part::read`] needs.
pub(super) const RECORD_FIELDS: [&str; 8] =
    ["owner", "memory", "id", "kind", "revision", "content", "record", "spaces"];

/// One row of a record.
pub(super) struct Part {
    pub(super) memory: String,
    pub(super) kind: i64,
    pub(super) revision: i64,
    pub(super) owner: String,
    id: String,
    content: String,
    record: String,
    spaces: Spaces,
}

impl Part {
    pub(super) fn read(row: &ResultRow<'_>) -> Result<Self, Fault> {
        Ok(Self {
            memory: row.get_str("memory")?.to_owned(),
            kind: row.get_i8("kind")?.into(),
            revision: row.get_i64("revision")?,
            owner: row.get_str("owner")?.to_owned(),
            id: row.get_str("id")?.to_owned(),
            content: row.get_str("content")?.to_owned(),
            record: row.get_str("record")?.to_owned(),
            spaces: read_spaces(row)?,
        })
    }
}

/// States of memories, as their rows give them.
#[derive(Default)]
pub(super) struct States {
    pub(super) read: Vec<(Kind, Stored)>,
    /// The key and revision of each current state that cannot be read.
    pub(super) unreadable: Vec<(String, i64)>,
}

/// Joins the rows of one owner in the order of their keys, as Milvus returns them. Rows of other
/// owners and incomplete records are skipped, and those that cannot be read are passed over.
pub(super) fn assemble(
    owner: &Owner,
    rows: Vec<(String, Part)>,
    unreadable: &UnreadableRows,
) -> States {
    let key = owner.key();
    let mut heads = Vec::new();
    let mut rest: HashMap<String, String> = HashMap::new();
    for (name, part) in rows {
        if part.owner != key {
            continue;
        }
        if part.kind == Kind::Piece as i64 {
            rest.insert(name, part.record);
        } else {
            heads.push((name, part));
        }
    }
    let mut states = States::default();
    for (name, mut head) in heads {
        let mut piece = 1;
        while let Some(more) = rest.remove(&format!("{name}.{piece}")) {
            head.record.push_str(&more);
            piece += 1;
        }
        let kind = if head.kind == Kind::Current as i64 { Kind::Current } else { Kind::Earlier };
        let mut memory = match serde_json::from_str::<Memory>(&head.record) {
            Ok(memory) => memory,
            // Its last piece is not there.
            Err(error) if error.is_eof() => continue,
            Err(_) => {
                unreadable.pass_over(&head.id, "record");
                if kind == Kind::Current {
                    states.unreadable.push((head.memory, head.revision));
                }
                continue;
            }
        };
        if memory.owner != *owner {
            continue;
        }
        if memory.content.is_empty() {
            memory.content = head.content;
        }
        states.read.push((kind, Stored { memory, revision: head.revision, spaces: head.spaces }));
    }
    states
}

/// The readers of a memory besides its owner, as its row names them.
fn readers(visibility: &Visibility) -> Vec<String> {
    match visibility {
        Visibility::Private => Vec::new(),
        Visibility::Public => vec![EVERYONE.to_owned()],
        Visibility::Shared { users, roles } => users
            .iter()
            .map(|user| user_name(user))
            .chain(roles.iter().map(|role| role_name(role)))
            .collect(),
    }
}

/// The names by which rows are shared with a reader.
pub(super) fn names_of(reader: &Reader) -> Vec<String> {
    let user = reader.owner.user().map(user_name);
    let roles = reader.roles.iter().map(|role| role_name(role));
    std::iter::once(EVERYONE.to_owned()).chain(user).chain(roles).collect()
}

const EVERYONE: &str = "*";

fn user_name(user: &str) -> String {
    format!("user {user}")
}

fn role_name(role: &str) -> String {
    format!("role {role}")
}
