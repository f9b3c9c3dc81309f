//! Links of a new memory to those that it belongs with: of the same batch, or of an entity that
//! both speak of. Bounded: a link to everything says nothing.

use jiff::Timestamp;

use crate::writer::MemoryWriter;
use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, Relation, ScopeQuery, StoreError, Within,
};

/// Links to memories of the same batch, the last ones.
const OF_BATCH: usize = 4;

/// Links to memories of shared entities, the newest ones.
const OF_ENTITIES: usize = 4;

/// Entities that are looked up.
const ENTITIES: usize = 4;

/// The links of a memory that is not stored yet; `batch` was stored before it.
pub(super) async fn of(
    writer: &MemoryWriter,
    memory: &Memory,
    batch: &[MemoryId],
    now: Timestamp,
) -> Result<Vec<Relation>, StoreError> {
    let mut targets: Vec<MemoryId> = batch[batch.len().saturating_sub(OF_BATCH)..].to_vec();
    let mut names: Vec<&str> = memory.entity_names().collect();
    names.truncate(ENTITIES);
    if !names.is_empty() {
        let entities = names.into_iter().map(|name| Filter::Entity(name.to_owned())).collect();
        let query = ListQuery {
            scope: ScopeQuery {
                projects: Within::visible_to(memory.project_id.as_deref()),
                agents: Within::visible_to(memory.agent_id.as_deref()),
                ..ScopeQuery::of(memory.owner.clone())
            },
            filter: Some(Filter::Or(entities)),
            limit: OF_ENTITIES,
            cursor: None,
            now,
        };
        targets.extend(writer.store.list(&query).await?.memories.into_iter().map(|m| m.id));
    }
    let links = targets.into_iter().filter(|target| *target != memory.id);
    let links: Vec<Relation> =
        links.map(|target| Relation::new(Relation::RELATED_TO, target)).collect();
    Ok(joined(&[], &links))
}

/// The links of both, each once.
pub(super) fn joined(one: &[Relation], other: &[Relation]) -> Vec<Relation> {
    let mut links: Vec<Relation> = Vec::new();
    for link in one.iter().chain(other) {
        if !links.contains(link) {
            links.push(link.clone());
        }
    }
    links
}
