//! Mentioned entities in requests, and what remains of them after a change of content.

use crate::api::ApiError;
use memgate_core::memory::Memory;
use memgate_screening::Screener;
use memgate_text::entity::{EntityRelation, MAX_NAME_BYTES, Mention, entity_key};

/// Checks mentions. The store limits their number.
pub(super) fn mentions(screener: Screener, given: Vec<Mention>) -> Result<Vec<Mention>, ApiError> {
    if !given.iter().all(Mention::can_be_kept) {
        return Err(unfit("mentions"));
    }
    let screened = |text: &str| screener.screen(text, MAX_NAME_BYTES).text;
    let screened = |mention: Mention| Mention {
        name: screened(&mention.name),
        kind: mention.kind.as_deref().map(screened),
    };
    Ok(given.into_iter().map(screened).collect())
}

/// Checks relations.
pub(super) fn relations(
    screener: Screener,
    given: Vec<EntityRelation>,
) -> Result<Vec<EntityRelation>, ApiError> {
    if !given.iter().all(EntityRelation::can_be_kept) {
        return Err(unfit("entity_relations"));
    }
    let screened = |text: &str| screener.screen(text, MAX_NAME_BYTES).text;
    let screened = |relation: EntityRelation| EntityRelation {
        subject: screened(&relation.subject),
        predicate: screened(&relation.predicate),
        object: screened(&relation.object),
    };
    Ok(given.into_iter().map(screened).collect())
}

/// Removes entities that a memory's new content no longer contains.
pub(super) fn drop_unnamed(memory: &mut Memory) {
    let content = entity_key(&memory.lines());
    let named = |name: &str| content.contains(&entity_key(name));
    memory.mentions.retain(|mention| named(&mention.name));
    memory.entity_relations.retain(|relation| named(&relation.subject) && named(&relation.object));
}

fn unfit(field: &str) -> ApiError {
    let cause =
        format!("must have texts of 1 to {MAX_NAME_BYTES} bytes without control characters");
    ApiError::invalid(field, cause)
}
