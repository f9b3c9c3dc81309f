//! Validation that every store applies before it writes or searches, so that all refuse the same
//! and store times alike.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::micros::{micros, time_of};
use memgate_core::memory::{
    Embedding, Filter, MAX_FILTER_SIZE, MAX_ID_BYTES, Memory, MemoryKind, StoreError, Whole,
};
use memgate_text::entity::{
    EntityRelation, MAX_ENTITY_RELATIONS, MAX_MENTIONS, MAX_NAME_BYTES, Mention,
};

/// Maximum size of content and raw text, in bytes: far above a turn of a conversation, far below
/// what would make a user's search slow.
pub const MAX_CONTENT_BYTES: usize = 1024 * 1024;

/// Maximum length of a project, agent or session, in bytes: ids of [`MAX_ID_BYTES`] with their
/// prefixes.
const MAX_NAME: usize = 1024;

/// Maximum number of vectors of one memory in one space.
const MAX_PARTS: usize = 1024;

/// Maximum version: a memory at it cannot be changed any more.
pub(super) const MAX_VERSION: u32 = u32::MAX >> 1;

/// Maximum access count; counting ends there. JavaScript still tells it from the next number.
pub(super) const MAX_ACCESS_COUNT: u64 = (1 << 53) - 1;

/// Maximum nesting of metadata and structured content: below what JSON is read to, wherever it stands in an answer or an
/// export.
const MAX_DEPTH: usize = 64;

/// Maximum number of results of a list or search; larger limits are reduced to it.
pub const MAX_LIMIT: usize = 10_000;

/// Approximate maximum number of bytes per scan; a single memory may be larger.
pub const MAX_SCAN_BYTES: usize = 4 * 1024 * 1024;

/// Validates a memory and its vectors; rounds its times to the stored precision.
pub(super) fn validate(memory: &mut Memory, vectors: &[Embedding]) -> Result<(), StoreError> {
    id("id", memory.id.as_str())?;
    id("type", memory.memory_type.as_str())?;
    name("project_id", memory.project_id.as_deref())?;
    name("agent_id", memory.agent_id.as_deref())?;
    name("session_id", memory.session_id.as_deref())?;
    memory.visibility.check().map_err(|(field, cause)| invalid(field, &cause))?;
    if memory.content.is_empty() {
        return Err(invalid("content", "must not be empty"));
    }
    text("content", &memory.content)?;
    text("reply", memory.reply.as_deref().unwrap_or_default())?;
    kind(memory)?;
    text("raw", memory.raw.as_deref().unwrap_or_default())?;
    share("importance", Some(memory.importance))?;
    share("confidence", memory.confidence)?;
    share("decay_score", memory.decay_score)?;
    if !(1..=MAX_VERSION).contains(&memory.version) {
        return Err(invalid("version", &format!("must be from 1 to {MAX_VERSION}")));
    }
    if memory.access_count > MAX_ACCESS_COUNT {
        return Err(invalid("access_count", &format!("must be at most {MAX_ACCESS_COUNT}")));
    }
    nesting("metadata", memory.metadata.values(), 1)?;
    nesting("structured", &memory.structured, 0)?;
    entities(memory)?;
    coordinates(vectors)?;
    memory.created_at = to_microsecond(memory.created_at);
    memory.updated_at = to_microsecond(memory.updated_at);
    for time in [
        &mut memory.last_accessed_at,
        &mut memory.event_time,
        &mut memory.valid_from,
        &mut memory.valid_until,
        &mut memory.expires_at,
    ] {
        *time = time.map(to_microsecond);
    }
    Ok(())
}

/// Validates a memory with its earlier versions and vectors; rounds its times to the stored
/// precision.
pub(super) fn whole(whole: &mut Whole) -> Result<(), StoreError> {
    let Whole { memory, history, vectors } = whole;
    validate(memory, vectors)?;
    order(vectors);
    let mut before = 0;
    for version in history {
        validate(version, &[]).map_err(|error| invalid("history", &error.to_string()))?;
        if version.owner != memory.owner || version.id != memory.id {
            return Err(invalid("history", "must be of the same memory"));
        }
        if version.version <= before || version.version >= memory.version {
            return Err(invalid(
                "history",
                "must have ascending versions, all below the current one",
            ));
        }
        before = version.version;
    }
    Ok(())
}

/// Checks that a change is based on the current version.
pub(super) fn same_version(expected: u32, found: u32) -> Result<(), StoreError> {
    if expected == found { Ok(()) } else { Err(StoreError::Conflict { expected, found }) }
}

/// Turns a change based on `stored` into its next version.
pub(super) fn succeed(memory: &mut Memory, stored: &Memory) -> Result<(), StoreError> {
    same_version(memory.version, stored.version)?;
    if stored.version >= MAX_VERSION {
        let cause = format!("is {MAX_VERSION}, the greatest: the memory can only be deleted");
        return Err(invalid("version", &cause));
    }
    memory.version += 1;
    memory.created_at = stored.created_at;
    memory.access_count = stored.access_count;
    memory.last_accessed_at = stored.last_accessed_at;
    Ok(())
}

/// Adds the fields that can be amended without a new version.
pub(super) fn amend(stored: &mut Memory, known: Memory) {
    stored.session_id = known.session_id;
    stored.confidence = known.confidence;
    stored.metadata = known.metadata;
    stored.provenance = known.provenance;
}

/// Counts a presentation of a memory.
pub(super) fn touch(memory: &mut Memory, at: Timestamp) {
    memory.access_count = memory.access_count.saturating_add(1).min(MAX_ACCESS_COUNT);
    memory.last_accessed_at = memory.last_accessed_at.max(Some(to_microsecond(at)));
}

/// Sorts the vectors of a memory.
pub(super) fn order(vectors: &mut [Embedding]) {
    vectors.sort_by(|a, b| (&a.space, a.part).cmp(&(&b.space, b.part)));
}

/// Checks that a memory has what its kind has.
fn kind(memory: &Memory) -> Result<(), StoreError> {
    if memory.reply.is_some() && memory.kind != MemoryKind::Turn {
        return Err(invalid("reply", "must not be set, except in a turn"));
    }
    let has_value = match memory.kind {
        MemoryKind::Preference => memory.preference().is_some(),
        MemoryKind::Wish => memory.is_wish_for_every_answer() || memory.wish_topic().is_some(),
        MemoryKind::Turn | MemoryKind::Summary | MemoryKind::Quotation | MemoryKind::Statement => {
            true
        }
    };
    let cause = "must be the value of a preference, or the topic of a wish";
    if has_value { Ok(()) } else { Err(invalid("structured", cause)) }
}

/// Validates a memory's mentions and relations.
fn entities(memory: &Memory) -> Result<(), StoreError> {
    let names =
        format!("must have texts of 1 to {MAX_NAME_BYTES} bytes without control characters");
    if memory.mentions.len() > MAX_MENTIONS {
        return Err(invalid("mentions", &format!("must be at most {MAX_MENTIONS}")));
    }
    if !memory.mentions.iter().all(Mention::can_be_kept) {
        return Err(invalid("mentions", &names));
    }
    if memory.entity_relations.len() > MAX_ENTITY_RELATIONS {
        let cause = format!("must be at most {MAX_ENTITY_RELATIONS}");
        return Err(invalid("entity_relations", &cause));
    }
    if !memory.entity_relations.iter().all(EntityRelation::can_be_kept) {
        return Err(invalid("entity_relations", &names));
    }
    Ok(())
}

/// Validates the vectors of a memory.
pub(super) fn coordinates(vectors: &[Embedding]) -> Result<(), StoreError> {
    let mut places = HashSet::new();
    for vector in vectors {
        id("vectors", &vector.space)?;
        if vector.values.is_empty() || !vector.values.iter().all(|value| value.is_finite()) {
            return Err(invalid("vectors", "must hold finite numbers"));
        }
        if usize::from(vector.part) >= MAX_PARTS {
            return Err(invalid("vectors", &format!("parts must be below {MAX_PARTS}")));
        }
        if !places.insert((&vector.space, vector.part)) {
            return Err(invalid("vectors", "must not contain a part of a space twice"));
        }
    }
    // Part 0 of a space decides whether a memory has vectors there.
    if vectors.iter().any(|vector| !places.contains(&(&vector.space, 0))) {
        return Err(invalid("vectors", "parts of a space must start at 0"));
    }
    Ok(())
}

/// Validates a filter's size.
pub(super) fn filter(filter: Option<&Filter>) -> Result<(), StoreError> {
    if filter.is_some_and(|filter| filter.size() > MAX_FILTER_SIZE) {
        let cause = format!("must have at most {MAX_FILTER_SIZE} conditions and values");
        return Err(invalid("filter", &cause));
    }
    Ok(())
}

/// Rounds a time down to the microsecond, the precision of stores: 64-bit nanoseconds do not reach
/// far enough.
pub(super) fn to_microsecond(time: Timestamp) -> Timestamp {
    // Every time of the calendar has one.
    time_of(micros(time)).unwrap_or(time)
}

fn id(field: &'static str, id: &str) -> Result<(), StoreError> {
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        let cause = format!("must have 1 to {MAX_ID_BYTES} bytes");
        return Err(invalid(field, &cause));
    }
    if id.chars().any(char::is_control) {
        return Err(invalid(field, "must not contain control characters"));
    }
    Ok(())
}

/// Validates an optional scope id; an empty one would look like none.
fn name(field: &'static str, name: Option<&str>) -> Result<(), StoreError> {
    if name.is_some_and(|name| name.is_empty() || name.len() > MAX_NAME) {
        return Err(invalid(field, &format!("must have 1 to {MAX_NAME} bytes")));
    }
    Ok(())
}

fn text(field: &'static str, text: &str) -> Result<(), StoreError> {
    if text.len() > MAX_CONTENT_BYTES {
        return Err(invalid(field, &format!("must have at most {MAX_CONTENT_BYTES} bytes")));
    }
    Ok(())
}

/// Refuses values that are nested too deep to be read back from where they are written.
fn nesting<'v>(
    field: &'static str,
    values: impl IntoIterator<Item = &'v Value>,
    depth: usize,
) -> Result<(), StoreError> {
    if depth > MAX_DEPTH {
        return Err(invalid(field, &format!("must be nested at most {MAX_DEPTH} deep")));
    }
    values.into_iter().try_for_each(|value| match value {
        Value::Array(values) => nesting(field, values, depth + 1),
        Value::Object(members) => nesting(field, members.values(), depth + 1),
        _ => Ok(()),
    })
}

fn share(field: &'static str, value: Option<f32>) -> Result<(), StoreError> {
    if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        return Err(invalid(field, "must be from 0 to 1"));
    }
    Ok(())
}

fn invalid(field: &'static str, cause: &str) -> StoreError {
    StoreError::Invalid { field, cause: cause.to_owned() }
}
