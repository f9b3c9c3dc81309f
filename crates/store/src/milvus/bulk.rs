//! Reads across owners: memories without vectors, and scans for export.

use std::collections::{BTreeMap, HashMap, HashSet};

use milvus::v2::types::{ConsistencyLevel, ResultRow};

use crate::{
    MAX_LIMIT, MAX_SCAN_BYTES,
    micros::micros,
    milvus::{
        connection::{fault::Fault, server::WINDOW},
        expression::{literal, of_owner, one_of},
        fields::{KEY, VECTOR},
        overlay::{Overlay, Recent},
        rows::{Kind, Part, Placed, RECORD_FIELDS, Stored, assemble, memory_key, read_vector_key},
        session::Session,
    },
    validate,
};
use memgate_core::memory::{Embedding, Memory, Owner, Scan, StoreError, Whole};

/// Number of memories read in one step of a scan.
const STEP: usize = 128;

/// Reads across owners.
pub(super) struct Bulk<'a> {
    pub(super) session: &'a Session,
    pub(super) overlay: &'a Overlay,
}

impl Bulk<'_> {
    /// Memories in use without vectors in a space, oldest first. If there are more than Milvus
    /// returns at once, the oldest of those returned.
    pub(super) async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, Fault> {
        let filter = format!(
            "kind == {} and status in [\"active\", \"review\"] and not json_contains(spaces[\"in\"], {})",
            Kind::Current as i8,
            literal(space)
        );
        let records = self.session.names.records();
        let consistency = self.session.server.consistency();
        let fields = ["memory", "revision", "created_at"];
        let read = |row: &ResultRow<'_>| {
            let created = row.get_i64("created_at")?;
            Ok((created, row.get_str("memory")?.to_owned(), row.get_i64("revision")?))
        };
        let server = &self.session.server;
        let found = server.rows(records, &filter, &fields, WINDOW, consistency, read).await?;
        let recent: HashMap<String, Recent> = self.overlay.all().into_iter().collect();
        let mut missing: Vec<(i64, String)> = found
            .into_iter()
            .map(|(_, row)| row)
            .filter(|(_, memory, revision)| {
                recent.get(memory).is_none_or(|recent| !recent.hides(*revision))
            })
            .map(|(created, memory, _)| (created, memory))
            .collect();
        for (memory, recent) in &recent {
            if let Recent::Written(fresh) = recent
                && fresh.stored.memory.status.is_in_use()
                && !fresh.stored.spaces.contains_key(space)
            {
                missing.push((micros(fresh.stored.memory.created_at), memory.clone()));
            }
        }
        missing.sort_unstable();
        missing.dedup();
        let limit = limit.min(MAX_LIMIT);
        let wanted: Vec<String> = missing.into_iter().map(|(_, memory)| memory).collect();
        let mut found = Vec::new();
        // Those that cannot be read do not count: they would take the places of all others.
        for memories in wanted.chunks(STEP.min(limit.max(1))) {
            let (mut current, _) = self.states(None, memories, consistency).await?;
            for memory in memories {
                let stored = match recent.get(memory) {
                    Some(Recent::Written(fresh)) => Some(fresh.stored.clone()),
                    _ => current.remove(memory),
                };
                found.extend(stored.map(|stored| stored.memory));
            }
            if found.len() >= limit {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// A piece of a scan, in the order of the memories' keys, which never change. Reads are strong,
    /// so that an export contains the latest writes.
    pub(super) async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        let whose = owner.map(Owner::key).unwrap_or_default();
        let mut after = match after.map(|after| read_place(after, &whose)) {
            Some(Err(cause)) => {
                return Err(StoreError::Invalid { field: "after", cause: cause.to_owned() });
            }
            Some(Ok(memory)) => Some(memory),
            None => None,
        };
        let strong = ConsistencyLevel::Strong;
        let records = self.session.names.records();
        let limit = limit.clamp(1, MAX_LIMIT);
        let mut scan = Scan { found: Vec::new(), next: None };
        let mut bytes = 0;
        loop {
            let mut filter = format!("kind == {}", Kind::Current as i8);
            if let Some(owner) = owner {
                filter = format!("{} and {filter}", of_owner(owner));
            }
            if let Some(after) = &after {
                // `.` follows a memory's key in its rows' keys, and `/` sorts after `.`.
                filter = format!("{filter} and {KEY} > {}", literal(&format!("{after}/")));
            }
            let read = |row: &ResultRow<'_>| Ok(row.get_str("memory")?.to_owned());
            let server = &self.session.server;
            let rows = server.rows(records, &filter, &["memory"], STEP, strong, read).await?;
            let last_page = rows.len() < STEP;
            let mut memories: Vec<String> = rows.into_iter().map(|(_, memory)| memory).collect();
            memories.dedup();
            let mut all = self.whole(owner, &memories).await?;
            for memory in memories {
                if scan.found.len() >= limit || bytes >= MAX_SCAN_BYTES {
                    scan.next = after.map(|memory| format!("{whose}/{memory}"));
                    return Ok(scan);
                }
                after = Some(memory.clone());
                if let Some(whole) = all.remove(&memory) {
                    bytes += whole.bytes();
                    scan.found.push(whole);
                }
            }
            if last_page {
                return Ok(scan);
            }
        }
    }

    /// Memories with history and vectors, by their keys.
    pub(super) async fn whole(
        &self,
        owner: Option<&Owner>,
        memories: &[String],
    ) -> Result<HashMap<String, Whole>, Fault> {
        let strong = ConsistencyLevel::Strong;
        let (current, mut earlier) = self.states(owner, memories, strong).await?;
        let spaces: HashSet<&String> =
            current.values().flat_map(|stored| stored.spaces.keys()).collect();
        let mut vectors: HashMap<String, Vec<Embedding>> = HashMap::new();
        for space in spaces {
            let Some(collection) = self.session.space(space).await? else { continue };
            let mut filter = one_of("memory", memories);
            if let Some(owner) = owner {
                filter = format!("{} and {filter}", of_owner(owner));
            }
            let read = |row: &ResultRow<'_>| -> Result<_, Fault> {
                Ok(row.get_float_vector(VECTOR)?.to_vec())
            };
            let server = &self.session.server;
            let found = server.query(&collection.name, &filter, &[VECTOR], strong, read).await?;
            for (key, values) in found {
                let Some((memory, revision, part)) = read_vector_key(&key) else { continue };
                let placed = current.get(memory).and_then(|stored| stored.spaces.get(space));
                if placed.is_some_and(|Placed { revision: its, .. }| *its == revision) {
                    let values = values.into();
                    let vector = Embedding { space: space.as_str().into(), part, values };
                    vectors.entry(memory.to_owned()).or_default().push(vector);
                }
            }
        }
        let whole = current.into_iter().map(|(key, stored)| {
            let mut history = earlier.remove(&key).unwrap_or_default();
            history.retain(|version| version.version < stored.memory.version);
            history.sort_by_key(|version| version.version);
            let mut vectors = vectors.remove(&key).unwrap_or_default();
            validate::order(&mut vectors);
            (key, Whole { memory: stored.memory, history, vectors })
        });
        Ok(whole.collect())
    }

    /// Current and earlier versions of memories, by their keys.
    async fn states(
        &self,
        owner: Option<&Owner>,
        memories: &[String],
        consistency: ConsistencyLevel,
    ) -> Result<(HashMap<String, Stored>, HashMap<String, Vec<Memory>>), Fault> {
        let mut filter = one_of("memory", memories);
        if let Some(owner) = owner {
            filter = format!("{} and {filter}", of_owner(owner));
        }
        let records = self.session.names.records();
        let server = &self.session.server;
        let rows = server.query(records, &filter, &RECORD_FIELDS, consistency, Part::read).await?;
        let mut by_owner: BTreeMap<String, Vec<(String, Part)>> = BTreeMap::new();
        for (key, part) in rows {
            by_owner.entry(part.owner.clone()).or_default().push((key, part));
        }
        let mut current: HashMap<String, Stored> = HashMap::new();
        let mut earlier: HashMap<String, Vec<Memory>> = HashMap::new();
        for (owner, rows) in by_owner {
            let Some(owner) = Owner::from_key(&owner) else { continue };
            for (kind, stored) in assemble(&owner, rows, &self.session.settings.unreadable).read {
                let key = memory_key(&owner, &stored.memory.id);
                match kind {
                    Kind::Current => {
                        let newest =
                            current.get(&key).is_none_or(|it| it.revision < stored.revision);
                        if newest {
                            current.insert(key, stored);
                        }
                    }
                    Kind::Earlier | Kind::Piece => {
                        earlier.entry(key).or_default().push(stored.memory);
                    }
                }
            }
        }
        Ok((current, earlier))
    }
}

/// Parses a cursor: the scanned owner, if any, and the last memory's key.
fn read_place(text: &str, whose: &str) -> Result<String, &'static str> {
    let place = text.rsplit_once('/').filter(|(_, memory)| {
        memory.len() == 32 && memory.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    match place {
        Some((owner, memory)) if owner == whose => Ok(memory.to_owned()),
        Some(_) => Err("is the cursor of another owner"),
        None => Err("is not a valid cursor"),
    }
}
