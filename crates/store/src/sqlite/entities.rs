//! The entity tables, derived from the memories. The schema removes an entity with its last
//! mention.

use std::collections::BTreeMap;

use rusqlite::Connection;

use memgate_core::memory::Memory;
use memgate_text::entity::entity_key;

/// Inserts a memory's mentions and relations.
pub(super) fn put(connection: &Connection, row: i64, memory: &Memory) -> rusqlite::Result<()> {
    let owner = memory.owner.key();
    let mut numbers = BTreeMap::new();
    for (key, kind) in kinds(memory) {
        let entity = make_entity(connection, &owner, &key)?;
        connection
            .prepare_cached("INSERT INTO mentions (entity, memory, kind) VALUES (?1, ?2, ?3)")?
            .execute((entity, row, kind))?;
        numbers.insert(key, entity);
    }
    for relation in &memory.entity_relations {
        let ends = [&relation.subject, &relation.object].map(|name| numbers.get(&entity_key(name)));
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO entity_relations (subject, object, memory, predicate) \
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((ends[0], ends[1], row, &relation.predicate))?;
    }
    Ok(())
}

/// Replaces the mentions and relations of a memory's old version.
pub(super) fn replace(
    connection: &Connection,
    row: i64,
    old: &Memory,
    new: &Memory,
) -> rusqlite::Result<()> {
    if old.mentions == new.mentions && old.entity_relations == new.entity_relations {
        return Ok(());
    }
    for table in ["entity_relations", "mentions"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE memory = ?1"))?
            .execute([row])?;
    }
    put(connection, row, new)
}

/// The keys of all entities of a memory, each with its first kind.
fn kinds(memory: &Memory) -> BTreeMap<String, Option<&str>> {
    let mut kinds = BTreeMap::new();
    for mention in &memory.mentions {
        let kind = kinds.entry(entity_key(&mention.name)).or_insert(None);
        *kind = kind.or(mention.kind.as_deref());
    }
    for name in memory.entity_names() {
        kinds.entry(entity_key(name)).or_insert(None);
    }
    kinds
}

/// The number of an owner's entity, created on first use.
fn make_entity(connection: &Connection, owner: &str, key: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "INSERT INTO entities (owner, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute((owner, key))?;
    connection
        .prepare_cached("SELECT entity FROM entities WHERE owner = ?1 AND name = ?2")?
        .query_row((owner, key), |row| row.get(0))
}
