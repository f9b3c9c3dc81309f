//! The embedded default store: memories as rows in one SQLite file, searched exactly, owner by
//! owner.
//!
//! Invariants: every statement names its owner, values are parameters, and the owner of every row
//! is checked again before it is returned. A cached index is used only if its generation is that of
//! the database.

mod backfill;
mod change;
mod entities;
mod filter;
mod index;
mod rows;
mod schema;
mod search;
mod transfer;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Semaphore;

use self::{
    backfill::Marks,
    index::OwnerIndex,
    rows::{answer, readable},
};
use crate::{
    MAX_LIMIT, UnreadableRows,
    micros::micros,
    owner_cache::IndexCache,
    scan_cursor::ScanCursor,
    validate::{self, validate},
};
use memgate_core::memory::{
    Counts, Embedding, Evidence, Filter, ForgetScope, ListQuery, Memory, MemoryId, MemoryStore,
    Owner, Page, Restored, Scan, ScopeQuery, Search, StoreError, Touch, Whole, Write,
};
use memgate_sqlite::{Database, DatabaseError, Options, Synchronous};
use rusqlite::Connection;

/// Settings of the store.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// When a write counts as durable.
    pub synchronous: Synchronous,
    /// Number of reading threads, and so of concurrent searches.
    pub readers: usize,
    /// Maximum number of waiting reads, and of waiting writes.
    pub queue: usize,
    /// Maximum size of the cache of owner indexes, in bytes.
    pub cache_bytes: usize,
    /// Counts the rows that cannot be read.
    pub unreadable: UnreadableRows,
}

impl Default for SqliteOptions {
    /// 64 MiB of cache hold about 200 owners with 100 memories of two 384-dimensional vectors;
    /// uncached owners take a few hundred microseconds more.
    fn default() -> Self {
        let Options { synchronous, readers, queue, .. } = Options::default();
        let unreadable = UnreadableRows::default();
        Self { synchronous, readers, queue, cache_bytes: 64 * 1024 * 1024, unreadable }
    }
}

/// Memories in an SQLite file.
pub struct SqliteStore {
    database: Database,
    cache: Arc<IndexCache<OwnerIndex>>,
    marks: Arc<Marks>,
    unreadable: UnreadableRows,
    closed: AtomicBool,
    /// A reader is always left for what is one's own, if there are two.
    shared_searches: Arc<Semaphore>,
}

impl SqliteStore {
    /// Opens or creates the file. Blocks: call it at start-up.
    ///
    /// # Errors
    /// [`DatabaseError`] with what is wrong with the file or its folder.
    pub fn open(file: &Path, options: SqliteOptions) -> Result<Self, DatabaseError> {
        let SqliteOptions { synchronous, readers, queue, cache_bytes, unreadable } = options;
        let options = Options { synchronous, readers, queue, prepare: filter::register };
        Ok(Self {
            database: Database::open(file, &schema::MIGRATIONS, options)?,
            cache: Arc::new(IndexCache::new(cache_bytes)),
            marks: Arc::default(),
            unreadable,
            closed: AtomicBool::new(false),
            shared_searches: Arc::new(Semaphore::new(readers.saturating_sub(1).max(1))),
        })
    }

    async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.read(job).await.map_err(store_error)
    }

    async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.write(job).await.map_err(store_error)
    }

    async fn erase<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.database.erase(job).await.map_err(store_error)
    }
}

/// The store's error for one of its database.
fn store_error(error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::Busy { kind: "reads", .. } => StoreError::Busy("too many reads are waiting"),
        DatabaseError::Busy { .. } => StoreError::Busy("too many writes are waiting"),
        DatabaseError::Locked { .. } => StoreError::Busy("another program has locked the file"),
        other => StoreError::Unavailable(other.to_string()),
    }
}

#[async_trait]
impl MemoryStore for SqliteStore {
    async fn store(
        &self,
        mut memory: Memory,
        vectors: Vec<Embedding>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, &vectors)?;
        let write = write.clone();
        self.write(move |c| change::store(c, memory, &vectors, &write)).await?
    }

    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError> {
        validate::filter(search.filter.as_ref())?;
        // Kept until the read has ended, also where nobody waits for it any more: what was read then is in the cache.
        let turn = match search.shared {
            Some(_) => Some(self.shared_searches.clone().acquire_owned().await),
            None => None,
        };
        let (search, cache, unreadable) =
            (search.clone(), self.cache.clone(), self.unreadable.clone());
        self.read(move |c| {
            let found = search::retrieve(c, &cache, &unreadable, &search);
            drop(turn);
            found
        })
        .await
    }

    async fn get(
        &self,
        owner: &Owner,
        id: &MemoryId,
        now: Timestamp,
    ) -> Result<Memory, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        let found = self.read(move |c| answer(search::by_id(c, &owner, id.as_str()))).await??;
        let memory = found.map(|(_, memory)| memory).filter(|memory| !memory.is_expired(now));
        memory.ok_or(StoreError::NotFound)
    }

    async fn get_all(
        &self,
        asked: &[(Owner, MemoryId)],
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let (asked, unreadable) = (asked.to_vec(), self.unreadable.clone());
        let look = move |c: &mut Connection| {
            let found = asked.iter().map(|(owner, id)| {
                let found = search::by_id(c, owner, id.as_str());
                readable(&unreadable, id.as_str(), found)
            });
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        let found = self.read(look).await?.into_iter().flatten().flatten();
        let found = found.map(|(_, memory)| memory);
        Ok(found.filter(|memory| !memory.is_expired(now)).collect())
    }

    async fn update(
        &self,
        mut memory: Memory,
        vectors: Option<Vec<Embedding>>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, vectors.as_deref().unwrap_or_default())?;
        let write = write.clone();
        self.write(move |c| change::update(c, memory, vectors.as_deref(), &write)).await?
    }

    async fn amend(&self, mut memory: Memory) -> Result<(), StoreError> {
        validate(&mut memory, &[])?;
        self.write(move |c| change::amend(c, &memory)).await?
    }

    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        let unreadable = self.unreadable.clone();
        let look = move |c: &mut _| answer(search::history(c, &unreadable, &owner, id.as_str()));
        let found = self.read(look).await??;
        found.ok_or(StoreError::NotFound)
    }

    async fn spaces(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<String>, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        let found = self.read(move |c| search::spaces(c, &owner, id.as_str())).await?;
        found.ok_or(StoreError::NotFound)
    }

    async fn forget(&self, owner: &Owner, id: &MemoryId, write: &Write) -> Result<u64, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        let removed = self.erase(move |c| change::forget(c, &owner, &id)).await?;
        write.told(removed);
        Ok(removed)
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
        let (owner, ids) = (owner.clone(), ids.to_vec());
        let forget = move |c: &mut _| ids.iter().map(|id| change::forget(c, &owner, id)).sum();
        let removed = self.erase(forget).await?;
        write.told(removed);
        Ok(removed)
    }

    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        write: &Write,
    ) -> Result<u64, StoreError> {
        let (owner, id) = (owner.clone(), id.clone());
        let removed = self.erase(move |c| change::forget_history(c, &owner, &id)).await?;
        write.told(removed);
        Ok(removed)
    }

    async fn forget_by_scope(&self, scope: &ForgetScope, write: &Write) -> Result<u64, StoreError> {
        let scope = scope.clone();
        let removed = self.erase(move |c| change::forget_by_scope(c, &scope)).await?;
        write.told(removed);
        Ok(removed)
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        validate::filter(query.filter.as_ref())?;
        let (query, unreadable) = (query.clone(), self.unreadable.clone());
        Ok(self.read(move |c| search::list(c, &unreadable, &query)).await?)
    }

    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        validate::filter(filter)?;
        let (scope, filter, space) = (scope.clone(), filter.cloned(), space.to_owned());
        let count = move |c: &mut _| search::count(c, &scope, filter.as_ref(), &space, now);
        Ok(self.read(count).await?)
    }

    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError> {
        let touches = touches.to_vec();
        Ok(self.write(move |c| change::touch(c, &touches)).await?)
    }

    async fn keep_until(
        &self,
        owner: &Owner,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (owner, until, now) = (owner.key(), micros(until), micros(now));
        Ok(self.write(move |c| change::keep_until(c, &owner, until, now)).await?)
    }

    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        let limit = limit.min(MAX_LIMIT);
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let (marks, space, left) = (self.marks.clone(), space.to_owned(), limit - found.len());
            let unreadable = self.unreadable.clone();
            let look = move |c: &mut _| {
                let step = marks.step(c, &unreadable, &space, &mut after, left)?;
                Ok((step, after))
            };
            let (step, reached) = self.read(look).await?;
            after = reached;
            found.extend(step.found);
            if found.len() >= limit || !step.more {
                return Ok(found);
            }
        }
    }

    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError> {
        validate::coordinates(&vectors)?;
        let (owner, id) = (owner.clone(), id.clone());
        let job = move |c: &mut _| change::embed(c, &owner, &id, version, &vectors);
        Ok(self.write(job).await?)
    }

    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        let (owner, after) = (owner.cloned(), ScanCursor::parse(after, owner)?);
        let limit = limit.clamp(1, MAX_LIMIT);
        let unreadable = self.unreadable.clone();
        let scan = move |c: &mut _| transfer::scan(c, &unreadable, owner.as_ref(), &after, limit);
        Ok(self.read(scan).await?)
    }

    async fn restore(&self, mut whole: Whole, write: &Write) -> Result<Restored, StoreError> {
        validate::whole(&mut whole)?;
        let (write, unreadable) = (write.clone(), self.unreadable.clone());
        self.write(move |c| transfer::restore(c, &unreadable, whole, &write)).await?
    }

    async fn clear(&self, write: &Write) -> Result<(), StoreError> {
        let removed = self.erase(|c| c.execute("DELETE FROM memories", [])).await?;
        write.told(removed as u64);
        Ok(())
    }

    async fn check(&self) -> Result<(), StoreError> {
        let look = "SELECT count(*) FROM (SELECT 1 FROM memories LIMIT 1)";
        Ok(self.read(move |c| c.query_row(look, [], |_| Ok(()))).await?)
    }

    fn is_enabled(&self) -> bool {
        !self.closed.load(Ordering::Acquire)
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.database.close().await;
    }
}

#[cfg(test)]
mod tests;
