//! Admission of what a request stores: the checks and the screening of all its texts. It does not read the store.

use serde_json::{Map, Value};

use crate::api::{ApiError, PatchRequest, operations::entities};
use memgate_capture::{
    Author, OrdersToModel, admit_members, admit_memory, admit_name, admit_text, may_become_memory,
};
use memgate_core::memory::{Memory, MemoryKind, Preference, Visibility};
use memgate_screening::{MAX_MESSAGE_BYTES, Screener};
use memgate_text::{
    entity::{EntityRelation, Mention},
    preferences::only_preferences_in,
};

/// Maximum number of tags.
const MAX_TAGS: usize = 64;
/// Maximum length of a tag, in bytes.
const MAX_TAG: usize = 256;
/// Maximum size of the metadata as JSON, in bytes.
const MAX_METADATA: usize = 16 * 1024;

/// The texts of a new memory besides its content.
pub(super) struct Beside {
    pub(super) tags: Vec<String>,
    pub(super) metadata: Map<String, Value>,
    pub(super) mentions: Vec<Mention>,
    pub(super) entity_relations: Vec<EntityRelation>,
}

/// A new memory as it may be stored, and the preference that it states if it states nothing else.
pub(super) fn created(
    screener: Screener,
    mut memory: Memory,
    orders: OrdersToModel,
    beside: Beside,
) -> Result<(Memory, Option<Preference>), ApiError> {
    #[cfg(test)]
    crate::injected::panic_at(&memory.content);
    admit_memory(screener, &mut memory, MAX_MESSAGE_BYTES, orders)
        .map_err(|why| ApiError::invalid(why.field(), why.cause()))?;
    memory.tags = tags(screener, beside.tags)?;
    memory.metadata = metadata(screener, beside.metadata)?;
    memory.set_may_have_changed(None);
    memory.mentions = entities::mentions(screener, beside.mentions)?;
    memory.entity_relations = entities::relations(screener, beside.entity_relations)?;
    let may_state = memory.tags.is_empty()
        && memory.kind != MemoryKind::Quotation
        && memory.owner.user().is_some();
    let stated = may_state.then(|| stated(screener, &memory.content)).flatten();
    Ok((memory, stated))
}

/// A change as it may be stored, and the preference that its content states if it states nothing else.
pub(super) fn changed(
    screener: Screener,
    mut change: PatchRequest,
) -> Result<(PatchRequest, Option<Preference>), ApiError> {
    name("project_id", change.project_id.as_ref().and_then(Option::as_ref))?;
    if let Some(Visibility::Shared { users, roles }) = &change.visibility {
        users.iter().chain(roles).try_for_each(|reader| name("visibility", Some(reader)))?;
    }
    change.content = change.content.map(|text| content(screener, text)).transpose()?;
    change.tags = change.tags.map(|given| tags(screener, given)).transpose()?;
    change.metadata = change.metadata.map(|given| metadata(screener, given)).transpose()?;
    change.mentions =
        change.mentions.map(|given| entities::mentions(screener, given)).transpose()?;
    change.entity_relations =
        change.entity_relations.map(|given| entities::relations(screener, given)).transpose()?;
    let stated = change.content.as_deref().and_then(|content| stated(screener, content));
    Ok((change, stated))
}

/// The preference that a content states, if it states one and nothing else.
fn stated(screener: Screener, content: &str) -> Option<Preference> {
    let mut stated = only_preferences_in(content);
    let preference = stated.pop().filter(|_| stated.is_empty());
    preference.filter(|_| may_become_memory(screener, content))
}

/// Checks the length of a content.
pub(super) fn fits(text: String) -> Result<String, ApiError> {
    if text.len() > MAX_MESSAGE_BYTES {
        let cause = format!("must have at most {MAX_MESSAGE_BYTES} bytes of UTF-8");
        return Err(ApiError::invalid("content", cause));
    }
    Ok(text)
}

/// Checks and screens a new content.
fn content(screener: Screener, text: String) -> Result<String, ApiError> {
    match admit_text(screener, &fits(text)?, MAX_MESSAGE_BYTES, Author::Caller) {
        Err(refusal) => Err(ApiError::invalid("content", refusal.cause())),
        Ok(text) if text.trim().is_empty() => {
            Err(ApiError::invalid("content", "must not be empty"))
        }
        Ok(text) => Ok(text),
    }
}

/// Checks an id.
fn name(field: &str, name: Option<&String>) -> Result<(), ApiError> {
    name.map_or(Ok(()), |name| admit_name(name)).map_err(|cause| ApiError::invalid(field, cause))
}

fn tags(screener: Screener, tags: Vec<String>) -> Result<Vec<String>, ApiError> {
    if tags.len() > MAX_TAGS || tags.iter().any(|tag| tag.is_empty() || tag.len() > MAX_TAG) {
        let cause = format!("must be at most {MAX_TAGS} texts of 1 to {MAX_TAG} bytes");
        return Err(ApiError::invalid("tags", cause));
    }
    Ok(tags.iter().map(|tag| screener.screen(tag, MAX_TAG).text).collect())
}

fn metadata(
    screener: Screener,
    members: Map<String, Value>,
) -> Result<Map<String, Value>, ApiError> {
    let size = serde_json::to_string(&members).map_or(usize::MAX, |text| text.len());
    if size > MAX_METADATA {
        let cause = format!("must have at most {MAX_METADATA} bytes as JSON");
        return Err(ApiError::invalid("metadata", cause));
    }
    admit_members(screener, members, MAX_METADATA)
        .map_err(|cause| ApiError::invalid("metadata", cause))
}
