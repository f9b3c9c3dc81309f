//! Writes: the new state is inserted before the old one is removed.
//!
//! Milvus has no transactions, and an upsert into a collection with a partition key puts rows into
//! the wrong partition (2.3.5). So every state has its own keys, and whatever a kill leaves behind
//! either has no record yet or a lower revision.

use std::collections::BTreeMap;

use jiff::Timestamp;
use milvus::v2::types::ConsistencyLevel;

use crate::{
    milvus::{
        connection::fault::Fault,
        expression::{of_owner, one_of},
        overlay::{Fresh, Overlay, Recent},
        rows::{
            Kind, Placed, RecordRows, Spaces, Stored, is_earlier, memory_key, vector_columns,
            vector_keys,
        },
        session::Session,
        view::{Known, Reader},
    },
    validate::{self, to_microsecond},
};
use memgate_core::memory::{Embedding, Memory, MemoryId, Owner, StoreError, Touch};

/// Change of a memory's vectors.
pub(super) enum Vectors {
    /// They stay.
    Kept,
    /// They are replaced in every space.
    Replaced(Vec<Embedding>),
    /// They are replaced in these spaces; those of other spaces stay.
    Added(Vec<Embedding>),
}

/// A change of one memory.
pub(super) struct Change {
    /// The memory before the change; `None` for a new one.
    pub(super) known: Option<Known>,
    pub(super) memory: Memory,
    /// Versions to keep in the history.
    pub(super) earlier: Vec<Memory>,
    pub(super) vectors: Vectors,
}

/// Writes to Milvus. The caller holds the owner's lock.
pub(super) struct Writer<'a> {
    pub(super) session: &'a Session,
    pub(super) overlay: &'a Overlay,
}

impl Writer<'_> {
    /// Writes a change.
    pub(super) async fn write(&self, change: Change) -> Result<(), StoreError> {
        self.write_all(vec![change]).await
    }

    /// Writes changes of one owner's memories in as few calls as possible.
    pub(super) async fn write_all(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let unknown = Unknown::since(self.session);
        let mut rows = RecordRows::default();
        let mut written = Vec::new();
        let mut stale = Vec::new();
        for change in changes {
            let Change { known, memory, earlier, vectors } = change;
            let owner = memory.owner.clone();
            let key = memory_key(&owner, &memory.id);
            let (old, keys, fresh) = match known {
                Some(Known { stored, keys, vectors }) => (Some(stored), keys, vectors),
                None => (None, Vec::new(), Vec::new()),
            };
            let revision = self.next_revision(&owner, &key, old.as_ref());
            let old_spaces = old.map(|old| old.spaces).unwrap_or_default();
            let (mut spaces, new, kept) = match vectors {
                Vectors::Kept => (old_spaces.clone(), Vec::new(), fresh),
                Vectors::Replaced(new) => (Spaces::new(), new, Vec::new()),
                Vectors::Added(new) => {
                    let replaced = |space: &str| new.iter().any(|it| &*it.space == space);
                    let mut spaces = old_spaces.clone();
                    spaces.retain(|space, _| !replaced(space));
                    let kept =
                        fresh.into_iter().filter(|vector| !replaced(&vector.space)).collect();
                    (spaces, new, kept)
                }
            };
            spaces.extend(self.vectors(&owner, &key, revision, &new).await?);
            for (space, placed) in old_spaces {
                if spaces.get(&space) != Some(&placed) {
                    stale.push((space, vector_keys(&key, placed).collect::<Vec<_>>()));
                }
            }
            let stored = Stored { memory, revision, spaces };
            let pieces = rows.push(Kind::Current, &stored).map_err(|error| unwritable(&error))?;
            for memory in earlier {
                let earlier = Stored { memory, revision, spaces: Spaces::new() };
                rows.push(Kind::Earlier, &earlier).map_err(|error| unwritable(&error))?;
            }
            let vectors = kept.into_iter().chain(new).collect();
            written.push((owner, key, Fresh { stored, pieces, vectors }, keys));
        }
        let records = self.session.names.records();
        self.session.server.insert(records, rows.columns()).await?;
        let mut worthless = Vec::new();
        for (owner, key, fresh, keys) in written {
            self.keep(&owner, &key, Recent::Written(fresh.into()));
            worthless.extend(keys);
        }
        unknown.settle();
        self.clean(&worthless, stale).await;
        Ok(())
    }

    /// A revision above the stored one and above those this process removed; close to the clock, so
    /// that several processes agree on the later one.
    fn next_revision(&self, owner: &Owner, key: &str, old: Option<&Stored>) -> i64 {
        let gone = match self.overlay.one(owner, key) {
            Some(Recent::Gone(revision)) => revision,
            _ => 0,
        };
        let last = old.map_or(0, |old| old.revision).max(gone);
        self.session.settings.clock.now().as_microsecond().max(last + 1)
    }

    /// Writes vectors; they are not found before a record refers to them.
    async fn vectors(
        &self,
        owner: &Owner,
        key: &str,
        revision: i64,
        vectors: &[Embedding],
    ) -> Result<Spaces, StoreError> {
        let mut by_space: BTreeMap<&str, Vec<&Embedding>> = BTreeMap::new();
        for vector in vectors {
            by_space.entry(&vector.space).or_default().push(vector);
        }
        let mut spaces = Spaces::new();
        for (space, vectors) in by_space {
            let dimension = vectors.first().map_or(0, |vector| vector.values.len());
            let collection = self.session.ensure_space(space, dimension).await?;
            if vectors.iter().any(|vector| vector.values.len() != collection.dimension) {
                return Err(StoreError::Invalid {
                    field: "vectors",
                    cause: format!("must have {} numbers in this space", collection.dimension),
                });
            }
            let columns = vector_columns(owner, key, revision, &vectors);
            self.session.server.insert(&collection.name, columns).await?;
            let highest = vectors.iter().map(|vector| vector.part).max().unwrap_or_default();
            spaces.insert(space.to_owned(), Placed { revision, parts: highest.saturating_add(1) });
        }
        Ok(spaces)
    }

    /// Removes obsolete rows. If this fails they stay, invisible, until the memory is changed again
    /// or forgotten.
    async fn clean(&self, records: &[String], vectors: Vec<(String, Vec<String>)>) {
        let server = &self.session.server;
        let mut outcome = server.delete_keys(self.session.names.records(), records).await;
        for (space, keys) in vectors {
            let collection = self.session.names.vectors(&space);
            outcome = outcome.and(server.delete_keys(&collection, &keys).await);
        }
        if let Err(fault) = outcome {
            tracing::debug!(%fault, "obsolete rows are still in Milvus");
        }
    }

    /// Increments access counts of one owner's memories.
    pub(super) async fn touch(&self, owner: &Owner, touches: &[&Touch]) -> Result<(), StoreError> {
        let mut times: BTreeMap<String, Vec<Timestamp>> = BTreeMap::new();
        for touch in touches {
            times.entry(memory_key(owner, &touch.id)).or_default().push(touch.at);
        }
        let keys: Vec<String> = times.keys().cloned().collect();
        // Strong, so that a memory just deleted by another process is not written again.
        let known = self.reader().currents(owner, &keys, ConsistencyLevel::Strong).await?;
        let changes = known.known.into_iter().map(|(key, known)| {
            let mut memory = known.stored.memory.clone();
            for at in times.get(&key).into_iter().flatten() {
                validate::touch(&mut memory, *at);
            }
            Change { known: Some(known), memory, earlier: Vec::new(), vectors: Vectors::Kept }
        });
        let changes: Vec<Change> = changes.collect();
        if changes.is_empty() { Ok(()) } else { self.write_all(changes).await }
    }

    /// Moves the expiry of an owner's memories that expire.
    pub(super) async fn keep_until(
        &self,
        owner: &Owner,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (strong, until) = (ConsistencyLevel::Strong, to_microsecond(until));
        let lines = self.reader().lines(owner, strong).await?;
        let keys: Vec<String> = lines.into_iter().map(|line| line.memory).collect();
        let known = self.reader().currents(owner, &keys, strong).await?;
        let moved = known.known.into_values().filter_map(|known| {
            let mut memory = known.stored.memory.clone();
            if memory.is_expired(now) {
                return None;
            }
            let end = memory.expires_at.as_mut().filter(|end| **end < until)?;
            *end = until;
            Some(Change { known: Some(known), memory, earlier: Vec::new(), vectors: Vectors::Kept })
        });
        let changes: Vec<Change> = moved.collect();
        if changes.is_empty() { Ok(()) } else { self.write_all(changes).await }
    }

    /// Removes memories with everything that belongs to them; returns their number.
    pub(super) async fn forget(&self, owner: &Owner, ids: &[MemoryId]) -> Result<u64, StoreError> {
        let unknown = Unknown::since(self.session);
        let keys: Vec<String> = ids.iter().map(|id| memory_key(owner, id)).collect();
        let known = self.reader().currents(owner, &keys, self.session.server.consistency()).await?;
        for keys in keys.chunks(1_000) {
            let filter = format!("{} and {}", of_owner(owner), one_of("memory", keys));
            self.erase(&filter).await?;
            for key in keys {
                self.keep(
                    owner,
                    key,
                    Recent::Gone(self.session.settings.clock.now().as_microsecond()),
                );
            }
        }
        unknown.settle();
        Ok((known.known.len() + known.unreadable.len()) as u64)
    }

    /// Removes all memories of an owner.
    pub(super) async fn forget_owner(&self, owner: &Owner) -> Result<u64, StoreError> {
        let strong = ConsistencyLevel::Strong;
        let unknown = Unknown::since(self.session);
        let lines = self.reader().lines(owner, strong).await?;
        self.erase(&of_owner(owner)).await?;
        for line in &lines {
            self.keep(
                owner,
                &line.memory,
                Recent::Gone(self.session.settings.clock.now().as_microsecond()),
            );
        }
        unknown.settle();
        Ok(lines.len() as u64)
    }

    /// Removes all of an owner's memories of one project.
    pub(super) async fn forget_project(
        &self,
        owner: &Owner,
        project: &str,
    ) -> Result<u64, StoreError> {
        let strong = ConsistencyLevel::Strong;
        let lines = self.reader().lines(owner, strong).await?;
        let of_project = lines.iter().filter(|line| line.project() == Some(project));
        let ids: Vec<MemoryId> = of_project.map(|line| line.id.clone()).collect();
        if ids.is_empty() { Ok(0) } else { self.forget(owner, &ids).await }
    }

    /// Removes the earlier versions of a memory; returns their number.
    pub(super) async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
    ) -> Result<u64, StoreError> {
        let key = memory_key(owner, id);
        let versions = self.reader().versions(owner, &key).await?;
        let filter = format!("{} and {}", of_owner(owner), one_of("memory", &[&key]));
        let records = self.session.names.records();
        let strong = ConsistencyLevel::Strong;
        let server = &self.session.server;
        let rows = server.query(records, &filter, &[], strong, |_| Ok(())).await?;
        let earlier: Vec<String> =
            rows.into_iter().map(|(row, ())| row).filter(|row| is_earlier(row, &key)).collect();
        server.delete_keys(records, &earlier).await?;
        Ok(versions.len().saturating_sub(1) as u64)
    }

    /// Removes rows from all collections, records first: other rows are not found without them.
    pub(super) async fn erase(&self, filter: &str) -> Result<(), StoreError> {
        let server = &self.session.server;
        let records = self.session.names.records();
        server.delete(records, filter).await?;
        // Listed each time: another process may have added a space.
        for collection in self.session.all_vectors().await? {
            match server.delete(&collection, filter).await {
                Ok(()) | Err(Fault::Missing) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(())
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader::of(self.session, self.overlay)
    }

    fn keep(&self, owner: &Owner, key: &str, recent: Recent) {
        if !self.overlay.put(owner, key, recent) {
            self.session.server.read_strongly_for(self.session.horizon);
        }
    }
}

/// A write whose outcome is unknown: it failed, or its caller stopped waiting. Reads are strong for
/// a while then.
struct Unknown<'a> {
    session: &'a Session,
    over: bool,
}

impl<'a> Unknown<'a> {
    fn since(session: &'a Session) -> Self {
        Self { session, over: false }
    }

    /// The overlay contains the write.
    fn settle(mut self) {
        self.over = true;
    }
}

impl Drop for Unknown<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.session.server.read_strongly_for(self.session.horizon);
        }
    }
}

fn unwritable(error: &serde_json::Error) -> StoreError {
    StoreError::Invalid { field: "metadata", cause: error.to_string() }
}
