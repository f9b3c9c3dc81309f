//! Sets preferences: of two values for one thing in one project, the one said later holds.

use jiff::Timestamp;

use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, MemoryStore, MemoryType, Owner, Preference, Relation,
    ScopeQuery, Source, Status, StoreError, Within, Write, preference::wording,
};

/// Memories with preferences that are read of one user and project: a key has one value or a few.
const MOST: usize = 100;

/// The states of a memory that holds.
const IN_USE: [Status; 2] = [Status::Active, Status::Review];

/// A preference as a memory, which says its fixed words.
#[must_use]
pub fn preference_memory(
    id: MemoryId,
    owner: Owner,
    preference: Preference,
    source: Source,
    said_at: Timestamp,
) -> Memory {
    let kind = MemoryType::new(MemoryType::PROCEDURAL);
    let mut memory = Memory::new(id, owner, kind, wording(&preference), source, said_at);
    memory.set_preference(Some(preference));
    memory.valid_from = Some(said_at);
    memory
}

/// Stores a preference and supersedes those of the same user and project that it replaces. A known one, or one
/// that was replaced after this was said, is not stored. Doing it again changes nothing. Returns the memory in force.
///
/// # Errors
/// [`StoreError`] of the store.
pub async fn set_preference(
    store: &dyn MemoryStore,
    mut new: Memory,
    write: &Write,
    now: Timestamp,
) -> Result<Memory, StoreError> {
    let Some(preference) = new.preference() else { return Ok(new) };
    let stored = match store.get(&new.owner, &new.id, now).await {
        Ok(stored) if !stored.status.is_in_use() => return Ok(stored),
        Ok(stored) => Some(stored),
        Err(StoreError::NotFound) => None,
        Err(error) => return Err(error),
    };
    let replaced = |memory: &Memory| {
        memory.id != new.id && memory.preference().is_some_and(|it| preference.replaces(&it))
    };
    let project = new.project_id.as_deref();
    let known = preferences_of(store, &new.owner, project, &IN_USE, now).await?;
    let mut replaced: Vec<Memory> = known.into_iter().filter(replaced).collect();
    let said_at = new.preference_said_at();
    if stored.is_none() {
        let holds = |old: &Memory| {
            old.preference().as_ref() == Some(&preference) || old.preference_said_at() > said_at
        };
        if let Some(at) = replaced.iter().position(holds) {
            return Ok(replaced.swap_remove(at));
        }
    }
    let new = match stored {
        Some(stored) => stored,
        None => {
            let links = replaced.iter().map(|old| old.id.clone());
            new.relations.extend(links.map(|target| Relation::new(Relation::SUPERSEDES, target)));
            store.store(new, Vec::new(), write).await?
        }
    };
    for mut old in replaced {
        old.supersede(&new.id);
        (old.valid_until, old.updated_at) = (Some(said_at), now);
        store.update(old, None, write).await?;
    }
    Ok(new)
}

/// The memories with preferences of exactly this project, or of none, that have one of these states.
///
/// # Errors
/// [`StoreError`] of the store.
pub async fn preferences_of(
    store: &dyn MemoryStore,
    owner: &Owner,
    project: Option<&str>,
    statuses: &[Status],
    now: Timestamp,
) -> Result<Vec<Memory>, StoreError> {
    let mut found = standing_of(store, owner, project, statuses, now).await?;
    found.retain(|memory| memory.preference().is_some());
    Ok(found)
}

/// The memories that stand in every context, preferences and wishes about every answer, newest first: of exactly this project, or
/// of none, in one of these states.
///
/// # Errors
/// [`StoreError`] of the store.
pub async fn standing_of(
    store: &dyn MemoryStore,
    owner: &Owner,
    project: Option<&str>,
    statuses: &[Status],
    now: Timestamp,
) -> Result<Vec<Memory>, StoreError> {
    let in_status = Filter::Status(statuses.to_vec());
    let query = ListQuery {
        scope: ScopeQuery { projects: Within::exactly(project), ..ScopeQuery::of(owner.clone()) },
        filter: Some(Filter::And(vec![Memory::states_preferences(), in_status])),
        limit: MOST,
        cursor: None,
        now,
    };
    Ok(store.list(&query).await?.memories)
}
