//! The store for clusters: memories in Milvus, one partition per owner.
//!
//! Path of an operation: `link` provides the session with the server, or the reason why there is
//! none → `view`, `search`, `bulk` read, `change` writes → `server` makes the call. `schema` and
//! `rows` define what is stored, `overlay` holds recent writes of this process that Milvus may not
//! show yet, and `expression` is the only place where a value becomes part of a filter.
//!
//! Invariants: every row is checked again for its owner; a memory is written before its old state
//! is removed; within a process, one write at a time changes an owner's memories. If two processes
//! change the same memory within the staleness of their reads, both succeed and the later clock
//! wins: Milvus has no compare-and-set.

mod bulk;
mod change;
mod connection;
mod expression;
mod fields;
mod link;
mod overlay;
mod rows;
mod schema;
mod search;
mod session;
mod view;

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use jiff::Timestamp;
use milvus::v2::types::ConsistencyLevel;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::sleep,
};

use self::{
    bulk::Bulk,
    change::{Change, Vectors, Writer},
    link::Link,
    overlay::Overlay,
    rows::memory_key,
    search::Searcher,
    session::Session,
    view::{Known, Reader},
};
pub use self::{connection::fault::MilvusRefusal, connection::settings::MilvusSettings};
use crate::{
    MAX_LIMIT,
    validate::{self, to_microsecond, validate},
};
use memgate_core::memory::{
    Counts, Cursor, Embedding, Evidence, Filter, ForgetScope, ListQuery, Memory, MemoryId,
    MemoryStore, Owner, Page, Restored, Scan, ScopeQuery, Search, StoreError, Touch, Whole, Write,
};

/// Number of locks shared by all owners; enough that two rarely collide.
const LOCKS: usize = 256;

/// Memories in a Milvus server.
pub struct MilvusStore {
    link: Link,
    overlay: Overlay,
    locks: Vec<Mutex<()>>,
    hasher: RandomState,
}

impl MilvusStore {
    /// Tries once to connect. If the server is unavailable, operations fail with
    /// [`StoreError::Unavailable`] until a check succeeds, so the store must be monitored.
    ///
    /// # Errors
    /// [`MilvusRefusal`].
    pub async fn open(settings: MilvusSettings) -> Result<Self, MilvusRefusal> {
        let overlay = Overlay::new(settings.staleness + link::MARGIN);
        Ok(Self {
            link: Link::open(settings).await?,
            overlay,
            locks: std::iter::repeat_with(Mutex::default).take(LOCKS).collect(),
            hasher: RandomState::new(),
        })
    }

    /// Held while an owner's memories are changed.
    async fn lock(&self, owner: &Owner) -> MutexGuard<'_, ()> {
        // The remainder is below 256.
        let place = usize::try_from(self.hasher.hash_one(owner) % LOCKS as u64).unwrap_or(0);
        self.locks[place].lock().await
    }

    fn reader<'a>(&'a self, session: &'a Session) -> Reader<'a> {
        Reader::of(session, &self.overlay)
    }

    fn searcher<'a>(&'a self, session: &'a Session) -> Searcher<'a> {
        Searcher { session, reader: self.reader(session) }
    }

    fn writer<'a>(&'a self, session: &'a Session) -> Writer<'a> {
        Writer { session, overlay: &self.overlay }
    }

    /// The current state of a memory.
    async fn known(
        &self,
        session: &Session,
        owner: &Owner,
        id: &MemoryId,
        consistency: ConsistencyLevel,
    ) -> Result<Option<Known>, StoreError> {
        let key = memory_key(owner, id);
        Ok(self.reader(session).current(owner, &key, consistency).await?)
    }

    /// The stored memory, if its version is the one that the caller read. Strong, so that a memory just
    /// deleted by another process is not written again.
    async fn of_version(&self, session: &Session, memory: &Memory) -> Result<Known, StoreError> {
        let strong = ConsistencyLevel::Strong;
        let known = self.known(session, &memory.owner, &memory.id, strong).await?;
        let known = known.ok_or(StoreError::NotFound)?;
        validate::same_version(memory.version, known.stored.memory.version)?;
        Ok(known)
    }
}

#[async_trait]
impl MemoryStore for MilvusStore {
    async fn store(
        &self,
        mut memory: Memory,
        vectors: Vec<Embedding>,
        _write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, &vectors)?;
        let session = self.link.session()?;
        let _lock = self.lock(&memory.owner).await;
        let consistency = session.server.consistency();
        if self.known(&session, &memory.owner, &memory.id, consistency).await?.is_some() {
            return Err(StoreError::Exists);
        }
        let change = Change {
            known: None,
            memory: memory.clone(),
            earlier: Vec::new(),
            vectors: Vectors::Replaced(vectors),
        };
        self.writer(&session).write(change).await?;
        Ok(memory)
    }

    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError> {
        validate::filter(search.filter.as_ref())?;
        let session = self.link.session()?;
        Ok(self.searcher(&session).retrieve(search).await?)
    }

    async fn get(
        &self,
        owner: &Owner,
        id: &MemoryId,
        now: Timestamp,
    ) -> Result<Memory, StoreError> {
        let session = self.link.session()?;
        let known = self.known(&session, owner, id, session.server.consistency()).await?;
        let memory = known.map(|known| known.stored.memory);
        memory.filter(|memory| !memory.is_expired(now)).ok_or(StoreError::NotFound)
    }

    async fn get_all(
        &self,
        asked: &[(Owner, MemoryId)],
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let session = self.link.session()?;
        let keys: Vec<String> = asked.iter().map(|(owner, id)| memory_key(owner, id)).collect();
        let asked = asked.iter().zip(&keys).map(|((owner, _), key)| (owner, &**key));
        let asked: Vec<(&Owner, &str)> = asked.collect();
        let consistency = session.server.consistency();
        let reader = Reader::of(&session, &self.overlay);
        let mut found = reader.currents_of(&asked, consistency).await?.known;
        let found = keys.iter().filter_map(|key| found.remove(key));
        let memories = found.map(|known| known.stored.memory);
        Ok(memories.filter(|memory| !memory.is_expired(now)).collect())
    }

    async fn update(
        &self,
        mut memory: Memory,
        vectors: Option<Vec<Embedding>>,
        _write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, vectors.as_deref().unwrap_or_default())?;
        let session = self.link.session()?;
        let _lock = self.lock(&memory.owner).await;
        let known = self.of_version(&session, &memory).await?;
        let old = known.stored.memory.clone();
        validate::succeed(&mut memory, &old)?;
        let vectors = match vectors {
            Some(vectors) => Vectors::Replaced(vectors),
            None if old.passages() != memory.passages() => Vectors::Replaced(Vec::new()),
            None => Vectors::Kept,
        };
        let earlier = vec![old];
        let change = Change { known: Some(known), memory: memory.clone(), earlier, vectors };
        self.writer(&session).write(change).await?;
        Ok(memory)
    }

    async fn amend(&self, mut memory: Memory) -> Result<(), StoreError> {
        validate(&mut memory, &[])?;
        let session = self.link.session()?;
        let _lock = self.lock(&memory.owner).await;
        let known = self.of_version(&session, &memory).await?;
        let mut amended = known.stored.memory.clone();
        validate::amend(&mut amended, memory);
        let (earlier, vectors) = (Vec::new(), Vectors::Kept);
        let change = Change { known: Some(known), memory: amended, earlier, vectors };
        self.writer(&session).write(change).await
    }

    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError> {
        let session = self.link.session()?;
        let versions = self.reader(&session).versions(owner, &memory_key(owner, id)).await?;
        if versions.is_empty() { Err(StoreError::NotFound) } else { Ok(versions) }
    }

    async fn spaces(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<String>, StoreError> {
        let session = self.link.session()?;
        let known = self.known(&session, owner, id, session.server.consistency()).await?;
        let known = known.ok_or(StoreError::NotFound)?;
        Ok(known.stored.spaces.into_keys().collect())
    }

    async fn forget(&self, owner: &Owner, id: &MemoryId, write: &Write) -> Result<u64, StoreError> {
        self.forget_all(owner, std::slice::from_ref(id), write).await
    }

    async fn forget_all(
        &self,
        owner: &Owner,
        ids: &[MemoryId],
        write: &Write,
    ) -> Result<u64, StoreError> {
        if ids.is_empty() {
            return Ok(0);
        }
        let session = self.link.session()?;
        let _lock = self.lock(owner).await;
        let removed = self.writer(&session).forget(owner, ids).await?;
        write.told(removed);
        Ok(removed)
    }

    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        write: &Write,
    ) -> Result<u64, StoreError> {
        let session = self.link.session()?;
        let _lock = self.lock(owner).await;
        let removed = self.writer(&session).forget_history(owner, id).await?;
        write.told(removed);
        Ok(removed)
    }

    async fn forget_by_scope(&self, scope: &ForgetScope, write: &Write) -> Result<u64, StoreError> {
        let session = self.link.session()?;
        let _lock = self.lock(&scope.owner).await;
        let writer = self.writer(&session);
        let removed = match &scope.project_id {
            None => writer.forget_owner(&scope.owner).await?,
            Some(project) => writer.forget_project(&scope.owner, project).await?,
        };
        write.told(removed);
        Ok(removed)
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        validate::filter(query.filter.as_ref())?;
        let session = self.link.session()?;
        let any_status = query.filter.as_ref().is_some_and(Filter::mentions_status);
        let searcher = self.searcher(&session);
        let lines = searcher.listed(&query.scope, query.filter.as_ref(), any_status, query.now);
        let mut lines = lines.await?;
        if let Some(Cursor { created_at, id }) = &query.cursor {
            let end = (to_microsecond(*created_at), id);
            lines.retain(|line| (line.created_at, &line.id) < end);
        }
        let limit = query.limit.min(MAX_LIMIT);
        let more = lines.len() > limit;
        lines.truncate(limit);
        let last = lines.last().filter(|_| more);
        let next = last.map(|last| Cursor { created_at: last.created_at, id: last.id.clone() });
        let consistency = session.server.consistency();
        let reader = searcher.reader;
        let mut memories = reader.memories(&lines, consistency).await?;
        let memories = lines.iter().filter_map(|line| memories.remove(&line.memory));
        Ok(Page { memories: memories.map(|stored| stored.memory).collect(), next })
    }

    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        validate::filter(filter)?;
        let session = self.link.session()?;
        let any_status = filter.is_some_and(Filter::mentions_status);
        let lines = self.searcher(&session).listed(scope, filter, any_status, now).await?;
        let embedded = lines.iter().filter(|line| line.spaces.contains_key(space)).count();
        Ok(Counts { total: lines.len() as u64, embedded: embedded as u64 })
    }

    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError> {
        let session = self.link.session()?;
        let mut by_owner: BTreeMap<&Owner, Vec<&Touch>> = BTreeMap::new();
        for touch in touches {
            by_owner.entry(&touch.owner).or_default().push(touch);
        }
        for (owner, touches) in by_owner {
            let _lock = self.lock(owner).await;
            self.writer(&session).touch(owner, &touches).await?;
        }
        Ok(())
    }

    async fn keep_until(
        &self,
        owner: &Owner,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let session = self.link.session()?;
        let _lock = self.lock(owner).await;
        self.writer(&session).keep_until(owner, until, now).await
    }

    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        let session = self.link.session()?;
        let bulk = Bulk { session: &session, overlay: &self.overlay };
        Ok(bulk.unembedded(space, limit).await?)
    }

    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError> {
        validate::coordinates(&vectors)?;
        let session = self.link.session()?;
        let _lock = self.lock(owner).await;
        let strong = ConsistencyLevel::Strong;
        let Some(known) = self.known(&session, owner, id, strong).await? else { return Ok(()) };
        let memory = known.stored.memory.clone();
        if memory.version != version || vectors.is_empty() {
            return Ok(());
        }
        let (earlier, vectors) = (Vec::new(), Vectors::Added(vectors));
        let change = Change { known: Some(known), memory, earlier, vectors };
        self.writer(&session).write(change).await
    }

    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        let session = self.link.session()?;
        Bulk { session: &session, overlay: &self.overlay }.scan(owner, after, limit).await
    }

    async fn restore(&self, mut whole: Whole, _write: &Write) -> Result<Restored, StoreError> {
        validate::whole(&mut whole)?;
        let session = self.link.session()?;
        let owner = &whole.memory.owner;
        let _lock = self.lock(owner).await;
        let consistency = session.server.consistency();
        let known = match self.known(&session, owner, &whole.memory.id, consistency).await {
            Err(StoreError::Unreadable(_)) => return Ok(Restored::Differs),
            known => known?,
        };
        if known.is_some() {
            let key = memory_key(owner, &whole.memory.id);
            let bulk = Bulk { session: &session, overlay: &self.overlay };
            let stored = bulk.whole(Some(owner), std::slice::from_ref(&key)).await?;
            let same = stored.get(&key).is_some_and(|stored| whole.is_kept_by(stored));
            return Ok(if same { Restored::Same } else { Restored::Differs });
        }
        let Whole { memory, history, vectors } = whole;
        let vectors = Vectors::Replaced(vectors);
        let change = Change { known: None, memory, earlier: history, vectors };
        self.writer(&session).write(change).await?;
        Ok(Restored::Written)
    }

    async fn clear(&self, write: &Write) -> Result<(), StoreError> {
        let session = self.link.session()?;
        let everything = format!("{} != \"\"", fields::KEY);
        self.writer(&session).erase(&everything).await?;
        self.overlay.clear();
        emptied(&session, &everything).await?;
        write.told(0);
        Ok(())
    }

    async fn use_space(&self, space: &str) -> Result<(), StoreError> {
        let session = self.link.session()?;
        let Some(collection) = session.space(space).await? else {
            let cause = format!("has no vectors in {space}");
            return Err(StoreError::Invalid { field: "space", cause });
        };
        Ok(session.maker().put_in_use(&collection.name).await?)
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.link.check().await
    }

    fn is_enabled(&self) -> bool {
        self.link.is_enabled()
    }

    async fn close(&self) {
        self.link.close();
    }
}

/// Waits until every read shows that nothing is left.
async fn emptied(session: &Arc<Session>, everything: &str) -> Result<(), connection::fault::Fault> {
    let end = Instant::now() + session.horizon;
    let bounded = ConsistencyLevel::Bounded;
    loop {
        let records = session.names.records();
        let left = session.server.rows(records, everything, &[], 1, bounded, |_| Ok(())).await?;
        if left.is_empty() || Instant::now() > end {
            return Ok(());
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests;
