//! Reads an owner's memories: the properties that searches and lists need, and the selected
//! memories.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use jiff::Timestamp;
use milvus::v2::types::{ConsistencyLevel, ResultRow};

use crate::milvus::{
    connection::{
        fault::Fault,
        server::{Server, WINDOW},
    },
    expression::{none_of, of_owner, one_of, shared_with},
    fields::KEY,
    overlay::{Fresh, Overlay, Recent},
    rows::{
        Kind, Part, RECORD_FIELDS, Spaces, Stored, assemble, is_earlier, memory_key, names_of,
        read_spaces, read_terms, record_keys,
    },
    session::Session,
};
use crate::{
    UnreadableRows,
    micros::{micros, time_of},
    owner_documents::{Haystack, MAX_SHARED, fair_share, space_keys},
};
use memgate_core::memory::{
    self, Embedding, Memory, MemoryId, Owner, ScopeQuery, SharedScope, Status,
};
use memgate_text::index::Terms;

/// The properties of one memory.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Its key.
    pub(super) memory: String,
    pub(super) owner: Owner,
    pub(super) id: MemoryId,
    pub(super) created_at: Timestamp,
    pub(super) spaces: Spaces,
    /// `None` if they do not fit into the row.
    pub(super) terms: Option<Terms>,
    /// Its recent write by this process.
    pub(super) fresh: Option<Arc<Fresh>>,
    revision: i64,
    pieces: i64,
    memory_type: String,
    project: Option<String>,
    agent: Option<String>,
    session: Option<String>,
    status: Option<Status>,
    expires_at: i64,
}

/// The fields that a line is read from.
const FIELDS: [&str; 14] = [
    "memory",
    "id",
    "revision",
    "pieces",
    "type",
    "project_id",
    "agent_id",
    "session_id",
    "status",
    "created_at",
    "expires_at",
    "spaces",
    "terms",
    "owner",
];

/// Maximum number of reads of what others share, each without the owners who took many places of the reads before.
const ROUNDS: usize = 8;
/// Number of places in one read that are many. Few owners can have them.
const MANY: usize = MAX_SHARED / 16;

impl Line {
    /// `None` where the row has no owner or time that memgate could have written.
    fn read(row: &ResultRow<'_>) -> Result<Option<Self>, Fault> {
        let owner = Owner::from_key(row.get_str("owner")?);
        let created_at = time_of(row.get_i64("created_at")?);
        let Some((owner, created_at)) = owner.zip(created_at) else { return Ok(None) };
        let name = |field| -> Result<_, Fault> {
            let name = row.get_str(field)?;
            Ok((!name.is_empty()).then(|| name.to_owned()))
        };
        Ok(Some(Self {
            memory: row.get_str("memory")?.to_owned(),
            owner,
            id: MemoryId::from_outside(row.get_str("id")?),
            created_at,
            spaces: read_spaces(row)?,
            terms: read_terms(row)?,
            fresh: None,
            revision: row.get_i64("revision")?,
            pieces: row.get_i64("pieces")?,
            memory_type: row.get_str("type")?.to_owned(),
            project: name("project_id")?,
            agent: name("agent_id")?,
            session: name("session_id")?,
            status: Status::from_name(row.get_str("status")?),
            expires_at: row.get_i64("expires_at")?,
        }))
    }

    fn of(memory: String, fresh: &Arc<Fresh>) -> Self {
        let Stored { memory: known, revision, spaces } = &fresh.stored;
        Self {
            memory,
            owner: known.owner.clone(),
            id: known.id.clone(),
            created_at: known.created_at,
            spaces: spaces.clone(),
            terms: Some(known.terms()),
            fresh: Some(fresh.clone()),
            revision: *revision,
            pieces: fresh.pieces,
            memory_type: known.memory_type.as_str().to_owned(),
            project: known.project_id.clone(),
            agent: known.agent_id.clone(),
            session: known.session_id.clone(),
            status: Some(known.status),
            expires_at: known.expires_at.map_or(i64::MAX, micros),
        }
    }

    /// Its project.
    pub(super) fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Whether it has expired.
    pub(super) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= micros(now)
    }

    /// Whether it may be presented.
    pub(super) fn is_in_use(&self, now: Timestamp) -> bool {
        self.status.is_some_and(Status::is_in_use) && !self.is_expired(now)
    }

    /// Whether it belongs to a scope of its owner.
    pub(super) fn is_in(&self, scope: &ScopeQuery) -> bool {
        let [project, agent, session] =
            [&self.project, &self.agent, &self.session].map(Option::as_deref);
        scope.reaches(&self.memory_type, project, agent, session)
    }

    /// Whether a haystack's search looks at its type.
    pub(super) fn is_searched_by(&self, haystack: &Haystack<'_>) -> bool {
        haystack.searches(&self.memory_type)
    }

    /// Whether the haystack of what others share has its type and project.
    pub(super) fn is_covered_by(&self, scope: &SharedScope) -> bool {
        scope.covers(&self.memory_type, self.project.as_deref())
    }

    /// Its session and type, which determine its neighbours.
    pub(super) fn said_in(&self) -> Option<(&str, &str)> {
        Some((self.session.as_deref()?, &self.memory_type))
    }
}

/// Reads an owner's memories.
pub(super) struct Reader<'a> {
    server: &'a Server,
    records: &'a str,
    overlay: &'a Overlay,
    unreadable: &'a UnreadableRows,
}

impl<'a> Reader<'a> {
    /// Reads through a session, merged with recent writes.
    pub(super) fn of(session: &'a Session, overlay: &'a Overlay) -> Self {
        let Session { server, names, settings, .. } = session;
        Self { server, records: names.records(), overlay, unreadable: &settings.unreadable }
    }

    /// All memories of an owner with any status, newest first.
    pub(super) async fn lines(
        &self,
        owner: &Owner,
        consistency: ConsistencyLevel,
    ) -> Result<Vec<Line>, Fault> {
        let found = self.found(&of_owner(owner), consistency).await?;
        // Rows of other owners are skipped, whatever the server returns.
        let found = found.into_iter().filter(|line| line.owner == *owner);
        // Taken after the read, so that concurrent writes are included.
        Ok(merged(found, self.overlay.of(owner)))
    }

    /// The lines of what others share with a reader, newest first. A line may be of a state that was replaced and not yet removed: the
    /// current state decides before anything is shown.
    pub(super) async fn shared_lines(
        &self,
        reader: &memory::Reader,
        consistency: ConsistencyLevel,
    ) -> Result<Vec<Line>, Fault> {
        let found = self.found_of_shared(reader, consistency).await?.into_iter();
        let found = found.filter(|line| reader.reaches(&line.owner, line.agent.as_deref()));
        let mut recent = self.overlay.of_tenant(&reader.owner);
        // One that is not shared any more hides its row, and is not shown itself.
        for recent in recent.values_mut() {
            if let Recent::Written(fresh) = recent
                && !reader.is_shared_with(&fresh.stored.memory)
            {
                *recent = Recent::Gone(fresh.stored.revision);
            }
        }
        let mut lines = merged(found, recent);
        lines.retain(|line| line.status.is_some_and(Status::is_in_use));
        Ok(fair_share(lines, |line| &line.owner))
    }

    /// The rows of what others share. A read is bounded, in the order of the keys and not of time. If there are more, the
    /// organisation's and the agent's are read apart, and those of users again without the owners who took many places.
    async fn found_of_shared(
        &self,
        reader: &memory::Reader,
        consistency: ConsistencyLevel,
    ) -> Result<Vec<Line>, Fault> {
        let shared = in_current_state(&shared_with(reader.owner.tenant(), &names_of(reader)));
        let spaces = space_keys(reader);
        let (mut found, mut rows) = (Vec::new(), shared.clone());
        let mut without = spaces.to_vec();
        for round in 0..ROUNDS {
            let (lines, is_all) = self.first_found(&rows, consistency).await?;
            let mut places: HashMap<String, usize> = HashMap::new();
            for line in &lines {
                *places.entry(line.owner.key()).or_default() += 1;
            }
            found.extend(lines);
            if is_all {
                break;
            }
            if round == 0 {
                for space in spaces.chunks(1) {
                    let rows = format!("{shared} and {}", one_of("owner", space));
                    found.extend(self.first_found(&rows, consistency).await?.0);
                }
            }
            let many = places.into_iter().filter(|(_, places)| *places >= MANY);
            let known = without.len();
            without.extend(many.map(|(owner, _)| owner).filter(|owner| !spaces.contains(owner)));
            if round > 0 && without.len() == known {
                break;
            }
            rows = format!("{shared} and {}", none_of("owner", &without));
        }
        Ok(found)
    }

    /// At most [`MAX_SHARED`] of these rows, and whether that is all.
    async fn first_found(
        &self,
        rows: &str,
        consistency: ConsistencyLevel,
    ) -> Result<(Vec<Line>, bool), Fault> {
        let found =
            self.server.rows(self.records, rows, &FIELDS, MAX_SHARED, consistency, Line::read);
        let found = found.await?;
        let is_all = found.len() < MAX_SHARED;
        Ok((found.into_iter().filter_map(|(_, line)| line).collect(), is_all))
    }

    async fn found(&self, rows: &str, consistency: ConsistencyLevel) -> Result<Vec<Line>, Fault> {
        let filter = in_current_state(rows);
        let found = self.server.query(self.records, &filter, &FIELDS, consistency, Line::read);
        Ok(found.await?.into_iter().filter_map(|(_, line)| line).collect())
    }

    /// The memories of these lines, by key. Removed ones are skipped.
    pub(super) async fn memories<'l>(
        &self,
        lines: impl IntoIterator<Item = &'l Line>,
        consistency: ConsistencyLevel,
    ) -> Result<HashMap<String, Stored>, Fault> {
        let mut memories = HashMap::new();
        let mut keys = Vec::new();
        let mut owners = HashSet::new();
        for line in lines {
            owners.insert(&line.owner);
            match &line.fresh {
                Some(fresh) => {
                    memories.insert(line.memory.clone(), fresh.stored.clone());
                }
                None => keys.extend(record_keys(&line.memory, line.revision, line.pieces)),
            }
        }
        // Sorted, so that the rows of a record are in one call if possible.
        keys.sort_unstable();
        let mut rows = Vec::new();
        for keys in keys.chunks(WINDOW / 16) {
            let filter = within(&owners, one_of(KEY, keys));
            rows.extend(
                self.server
                    .rows(self.records, &filter, &RECORD_FIELDS, WINDOW, consistency, Part::read)
                    .await?,
            );
        }
        for (owner, rows) in by_owner(rows) {
            for (_, stored) in assemble(&owner, rows, self.unreadable).read {
                memories.insert(memory_key(&owner, &stored.memory.id), stored);
            }
        }
        Ok(memories)
    }

    /// The current state of a memory, and the keys of all its rows, including leftovers of
    /// interrupted writes.
    pub(super) async fn current(
        &self,
        owner: &Owner,
        memory: &str,
        consistency: ConsistencyLevel,
    ) -> Result<Option<Known>, Fault> {
        let mut found = self.currents_of(&[(owner, memory)], consistency).await?;
        if found.unreadable.contains(memory) {
            return Err(Fault::UnreadableRecord);
        }
        Ok(found.known.remove(memory))
    }

    /// The current states of several memories of one owner.
    pub(super) async fn currents(
        &self,
        owner: &Owner,
        memories: &[String],
        consistency: ConsistencyLevel,
    ) -> Result<Currents, Fault> {
        let memories: Vec<_> = memories.iter().map(|memory| (owner, memory.as_str())).collect();
        self.currents_of(&memories, consistency).await
    }

    /// The current states of several memories, each with its owner.
    pub(super) async fn currents_of(
        &self,
        memories: &[(&Owner, &str)],
        consistency: ConsistencyLevel,
    ) -> Result<Currents, Fault> {
        let mut rows: HashMap<String, Vec<(String, Part)>> = HashMap::new();
        let owners: HashSet<&Owner> = memories.iter().map(|(owner, _)| *owner).collect();
        for memories in memories.chunks(WINDOW / 16) {
            let keys: Vec<&str> = memories.iter().map(|(_, key)| *key).collect();
            let rest = format!("kind != {} and {}", Kind::Earlier as i8, one_of("memory", &keys));
            let filter = within(&owners, rest);
            let found =
                self.server.query(self.records, &filter, &RECORD_FIELDS, consistency, Part::read);
            for (key, part) in found.await? {
                // The others are pieces of earlier versions.
                if !is_earlier(&key, &part.memory) {
                    rows.entry(part.memory.clone()).or_default().push((key, part));
                }
            }
        }
        let mut found = Currents::default();
        for &(owner, memory) in memories.iter().collect::<HashSet<_>>() {
            let rows = rows.remove(memory).unwrap_or_default();
            let keys: Vec<String> = rows.iter().map(|(key, _)| key.clone()).collect();
            let states = assemble(owner, rows, self.unreadable);
            let newest = states
                .read
                .into_iter()
                .filter(|(kind, _)| *kind == Kind::Current)
                .map(|(_, stored)| stored)
                .max_by_key(|stored| stored.revision);
            let recent = self.overlay.one(owner, memory);
            let hidden =
                |revision: i64| recent.as_ref().is_some_and(|recent| recent.hides(revision));
            let newest = newest.filter(|stored| !hidden(stored.revision));
            let is_newest =
                |revision: i64| newest.as_ref().is_none_or(|newest| newest.revision < revision);
            let mut unreadable = states.unreadable.into_iter().map(|(_, revision)| revision);
            if unreadable.any(|revision| !hidden(revision) && is_newest(revision)) {
                found.unreadable.insert(memory.to_owned());
                continue;
            }
            let known = match (newest, &recent) {
                (Some(stored), _) => Known { stored, keys, vectors: Vec::new() },
                (None, Some(Recent::Written(fresh))) => {
                    let mut keys = keys;
                    keys.extend(record_keys(memory, fresh.stored.revision, fresh.pieces));
                    keys.sort_unstable();
                    keys.dedup();
                    let vectors = fresh.vectors.clone();
                    Known { stored: fresh.stored.clone(), keys, vectors }
                }
                (None, _) => continue,
            };
            found.known.insert(memory.to_owned(), known);
        }
        Ok(found)
    }

    /// All versions of a memory, newest first; empty if the owner has no such memory.
    pub(super) async fn versions(&self, owner: &Owner, memory: &str) -> Result<Vec<Memory>, Fault> {
        let filter = format!("{} and {}", of_owner(owner), one_of("memory", &[memory]));
        // Not merged with recent writes: a history can wait for a strong read.
        let strong = ConsistencyLevel::Strong;
        let rows =
            self.server.query(self.records, &filter, &RECORD_FIELDS, strong, Part::read).await?;
        let mut states = assemble(owner, rows, self.unreadable).read;
        let current = self.current(owner, memory, strong).await?;
        let Some(current) = current.map(|known| known.stored.memory) else {
            return Ok(Vec::new());
        };
        states.retain(|(kind, stored)| {
            *kind == Kind::Earlier && stored.memory.version < current.version
        });
        states.sort_by_key(|(_, stored)| Reverse(stored.memory.version));
        let earlier = states.into_iter().map(|(_, stored)| stored.memory);
        Ok(std::iter::once(current).chain(earlier).collect())
    }
}

/// These rows, where they are the current state of a memory.
fn in_current_state(rows: &str) -> String {
    format!("{rows} and kind == {}", Kind::Current as i8)
}

/// These rows; within its partition, where they are of one owner.
fn within(owners: &HashSet<&Owner>, rows: String) -> String {
    match owners.iter().next() {
        Some(owner) if owners.len() == 1 => format!("{} and {rows}", of_owner(owner)),
        _ => rows,
    }
}

/// The rows of each owner.
fn by_owner(rows: Vec<(String, Part)>) -> Vec<(Owner, Vec<(String, Part)>)> {
    let mut owners: HashMap<String, Vec<(String, Part)>> = HashMap::new();
    for (key, part) in rows {
        owners.entry(part.owner.clone()).or_default().push((key, part));
    }
    let owners = owners.into_iter();
    owners.filter_map(|(key, rows)| Some((Owner::from_key(&key)?, rows))).collect()
}

/// The newest state of each memory, with recent writes, newest first.
fn merged(found: impl Iterator<Item = Line>, recent: HashMap<String, Recent>) -> Vec<Line> {
    let mut lines: HashMap<String, Line> = HashMap::new();
    for line in found {
        let hidden = recent.get(&line.memory).is_some_and(|it| it.hides(line.revision));
        let newer = lines.get(&line.memory).is_none_or(|it| it.revision < line.revision);
        if newer && !hidden {
            lines.insert(line.memory.clone(), line);
        }
    }
    for (memory, recent) in recent {
        if let Recent::Written(fresh) = recent
            && !lines.contains_key(&memory)
        {
            lines.insert(memory.clone(), Line::of(memory, &fresh));
        }
    }
    let mut lines: Vec<Line> = lines.into_values().collect();
    lines
        .sort_by_cached_key(|line| (Reverse((line.created_at, line.id.clone())), line.owner.key()));
    lines
}

/// Current states of memories, by key.
#[derive(Default)]
pub(super) struct Currents {
    pub(super) known: HashMap<String, Known>,
    /// The memories whose current state cannot be read.
    pub(super) unreadable: HashSet<String>,
}

/// A memory before a change.
pub(super) struct Known {
    pub(super) stored: Stored,
    /// Keys of the rows that a new state makes obsolete.
    pub(super) keys: Vec<String>,
    /// Vectors that this process wrote recently.
    pub(super) vectors: Vec<Embedding>,
}
