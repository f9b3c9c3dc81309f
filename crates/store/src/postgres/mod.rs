//! The store for clusters that have PostgreSQL: memories as rows, vectors by pgvector, searched
//! exactly, owner by owner.
//!
//! Path of an operation: `connection` begins a transaction for an owner → `search`, `backfill` and
//! `transfer` read, `change` and `transfer` write → `rows` converts. `schema` defines the tables,
//! and `filter` renders conditions.
//!
//! Invariants: every statement names its owner, values are parameters, row-level security binds
//! each transaction to its owner, and the owner of every row is checked again before it is
//! returned. A write holds its owner's lock. A cached index is used only if its generation is that
//! of the database.

mod backfill;
mod change;
mod connection;
mod filter;
mod index;
mod rows;
mod schema;
mod search;
mod transfer;

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Semaphore;

pub use self::connection::{fault::PostgresRefusal, settings::PostgresSettings};
use self::{
    backfill::Marks,
    connection::{
        fault::Fault,
        pool::Pool,
        prepare::prepare,
        transaction::{EVERYBODY, Mode, Transaction},
    },
    index::OwnerIndex,
    rows::readable,
};
use crate::{
    MAX_LIMIT, UnreadableRows,
    owner_cache::IndexCache,
    scan_cursor::ScanCursor,
    validate::{self, validate},
};
use memgate_core::memory::{
    Counts, Embedding, Evidence, Filter, ForgetScope, ListQuery, Memory, MemoryId, MemoryStore,
    Owner, Page, Restored, Scan, ScopeQuery, Search, StoreError, Touch, Whole, Write,
};

/// Whether the database can be used.
#[derive(Clone)]
enum State {
    /// It has everything.
    Ready,
    /// It could not be reached or prepared, with the cause.
    Away(String),
    Closed,
}

/// Memories in a PostgreSQL database.
pub struct PostgresStore {
    pool: Arc<Pool>,
    settings: PostgresSettings,
    state: RwLock<State>,
    /// Whether it was ever ready.
    met: AtomicBool,
    cache: Arc<IndexCache<OwnerIndex>>,
    marks: Marks,
    /// Half of the connections is always left for what is one's own.
    shared_searches: Arc<Semaphore>,
}

impl PostgresStore {
    /// Tries once to connect. If the server is unavailable, operations fail with
    /// [`StoreError::Unavailable`] until a check succeeds, so the store must be monitored.
    ///
    /// # Errors
    /// [`PostgresRefusal`].
    pub async fn open(settings: PostgresSettings) -> Result<Self, PostgresRefusal> {
        let store = Self {
            pool: Arc::new(Pool::new(&settings)?),
            cache: Arc::new(IndexCache::new(settings.cache_bytes)),
            shared_searches: Arc::new(Semaphore::new((settings.connections / 2).max(1))),
            settings,
            state: RwLock::new(State::Away("not connected yet".to_owned())),
            met: AtomicBool::new(false),
            marks: Marks::default(),
        };
        match prepare(&store.pool, &store.settings).await {
            Ok(None) => store.set(State::Ready),
            Ok(Some(refusal)) => return Err(refusal),
            Err(fault) => store.set(State::Away(fault.to_string())),
        }
        Ok(store)
    }

    fn unreadable(&self) -> &UnreadableRows {
        &self.settings.unreadable
    }

    fn state(&self) -> State {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, new: State) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        // A check that finishes after the store was closed has no effect.
        if !matches!(*state, State::Closed) {
            *state = new;
        }
        if matches!(*state, State::Ready) {
            self.met.store(true, Ordering::Release);
        }
    }

    /// Begins a transaction for an owner, or for [`EVERYBODY`].
    async fn begin(&self, mode: Mode, whose: &str) -> Result<Transaction, Fault> {
        match self.state() {
            State::Ready => Transaction::begin(&self.pool, mode, whose).await,
            State::Away(cause) => Err(StoreError::Unavailable(cause).into()),
            State::Closed => Err(Fault::Closed),
        }
    }

    async fn read(&self, owner: &Owner) -> Result<Transaction, Fault> {
        self.begin(Mode::Read, &owner.key()).await
    }

    async fn write(&self, owner: &Owner) -> Result<Transaction, Fault> {
        self.begin(Mode::Write, &owner.key()).await
    }

    /// Looks whether a ready database still is, and prepares one that is not.
    async fn look(&self) -> Result<(), Fault> {
        match self.state() {
            State::Closed => return Err(Fault::Closed),
            State::Ready => match self.read_tables().await {
                Err(Fault::Missing) => {}
                outcome => return outcome,
            },
            State::Away(_) => {}
        }
        // Numbers of other tables mean nothing here.
        self.marks.clear();
        match prepare(&self.pool, &self.settings).await? {
            None => {
                self.read_tables_of(Transaction::begin(&self.pool, Mode::Read, EVERYBODY).await?)
                    .await
            }
            Some(refusal) => Err(StoreError::Unavailable(refusal.to_string()).into()),
        }
    }

    async fn read_tables(&self) -> Result<(), Fault> {
        self.read_tables_of(self.begin(Mode::Read, EVERYBODY).await?).await
    }

    async fn read_tables_of(&self, transaction: Transaction) -> Result<(), Fault> {
        let read = "SELECT EXISTS (SELECT FROM memories), EXISTS (SELECT FROM versions), \
             EXISTS (SELECT FROM vectors), EXISTS (SELECT FROM owners), EXISTS (SELECT FROM spaces)";
        let rows = transaction.query_once(read, &[]).await?;
        transaction.end();
        if rows.is_empty() { Err(Fault::Missing) } else { Ok(()) }
    }
}

#[async_trait]
impl MemoryStore for PostgresStore {
    async fn store(
        &self,
        mut memory: Memory,
        vectors: Vec<Embedding>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, &vectors)?;
        change::storable(&vectors)?;
        let transaction = self.write(&memory.owner).await?;
        let number = change::insert(&transaction, &memory, &vectors, write).await?;
        let number = number.ok_or(StoreError::Exists)?;
        transaction.commit().await?;
        self.marks.changed(number);
        Ok(memory)
    }

    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError> {
        validate::filter(search.filter.as_ref())?;
        let scope = search.scopes.first().map(|scope| &scope.owner);
        let reader = search.shared.as_ref().map(|shared| &shared.reader.owner);
        let Some(owner) = scope.or(reader) else { return Ok(Vec::new()) };
        if search.shared.is_none() {
            let transaction = self.read(owner).await?;
            let found =
                search::retrieve(&transaction, &self.cache, self.unreadable(), search).await?;
            transaction.end();
            return Ok(found);
        }
        let turn = self.shared_searches.clone().acquire_owned().await;
        let transaction = self.read(owner).await?;
        let (cache, search) = (self.cache.clone(), search.clone());
        let unreadable = self.unreadable().clone();
        // It goes on where nobody waits for it any more: what it has read then is in the cache.
        let searching = tokio::spawn(async move {
            let _turn = turn;
            let found = search::retrieve(&transaction, &cache, &unreadable, &search).await?;
            transaction.end();
            Ok::<_, Fault>(found)
        });
        let ended = |_| StoreError::Unavailable("the search was ended".to_owned());
        Ok(searching.await.map_err(ended)??)
    }

    async fn get(
        &self,
        owner: &Owner,
        id: &MemoryId,
        now: Timestamp,
    ) -> Result<Memory, StoreError> {
        let transaction = self.read(owner).await?;
        let found = search::by_id(&transaction, owner, id.as_str()).await?;
        transaction.end();
        let memory = found.map(|(_, memory)| memory).filter(|memory| !memory.is_expired(now));
        memory.ok_or(StoreError::NotFound)
    }

    async fn get_all(
        &self,
        asked: &[(Owner, MemoryId)],
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let Some((first, _)) = asked.first() else { return Ok(Vec::new()) };
        let transaction = self.read(first).await?;
        let mut found = Vec::with_capacity(asked.len());
        for (owner, id) in asked {
            transaction.act_for(&owner.key())?;
            let one = search::by_id(&transaction, owner, id.as_str()).await;
            found.extend(readable(self.unreadable(), id.as_str(), one)?.flatten());
        }
        transaction.end();
        let found = found.into_iter().map(|(_, memory)| memory);
        Ok(found.filter(|memory| !memory.is_expired(now)).collect())
    }

    async fn update(
        &self,
        mut memory: Memory,
        vectors: Option<Vec<Embedding>>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        validate(&mut memory, vectors.as_deref().unwrap_or_default())?;
        change::storable(vectors.as_deref().unwrap_or_default())?;
        let transaction = self.write(&memory.owner).await?;
        let (memory, to_embed) =
            change::update(&transaction, memory, vectors.as_deref(), write).await?;
        transaction.commit().await?;
        if let Some(number) = to_embed {
            self.marks.changed(number);
        }
        Ok(memory)
    }

    async fn amend(&self, mut memory: Memory) -> Result<(), StoreError> {
        validate(&mut memory, &[])?;
        let transaction = self.write(&memory.owner).await?;
        change::amend(&transaction, memory).await?;
        Ok(transaction.commit().await?)
    }

    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError> {
        let transaction = self.read(owner).await?;
        let found = search::history(&transaction, self.unreadable(), owner, id.as_str()).await?;
        transaction.end();
        found.ok_or(StoreError::NotFound)
    }

    async fn spaces(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<String>, StoreError> {
        let transaction = self.read(owner).await?;
        let found = search::spaces(&transaction, owner, id.as_str()).await?;
        transaction.end();
        found.ok_or(StoreError::NotFound)
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
        let transaction = self.write(owner).await?;
        let removed = change::forget(&transaction, owner, ids).await?;
        transaction.commit().await?;
        write.told(removed);
        Ok(removed)
    }

    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        write: &Write,
    ) -> Result<u64, StoreError> {
        let transaction = self.write(owner).await?;
        let removed = change::forget_history(&transaction, owner, id).await?;
        transaction.commit().await?;
        write.told(removed);
        Ok(removed)
    }

    async fn forget_by_scope(&self, scope: &ForgetScope, write: &Write) -> Result<u64, StoreError> {
        let transaction = self.write(&scope.owner).await?;
        let removed = change::forget_by_scope(&transaction, scope).await?;
        transaction.commit().await?;
        write.told(removed);
        Ok(removed)
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        validate::filter(query.filter.as_ref())?;
        let transaction = self.read(&query.scope.owner).await?;
        let page = search::list(&transaction, self.unreadable(), query).await?;
        transaction.end();
        Ok(page)
    }

    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        validate::filter(filter)?;
        let transaction = self.read(&scope.owner).await?;
        let counts = search::count(&transaction, scope, filter, space, now).await?;
        transaction.end();
        Ok(counts)
    }

    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError> {
        let Some(first) = touches.first() else { return Ok(()) };
        let transaction = self.write(&first.owner).await?;
        change::touch(&transaction, touches).await?;
        Ok(transaction.commit().await?)
    }

    async fn keep_until(
        &self,
        owner: &Owner,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let transaction = self.write(owner).await?;
        change::keep_until(&transaction, owner, until, now).await?;
        Ok(transaction.commit().await?)
    }

    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        let begin = || self.begin(Mode::Read, EVERYBODY);
        Ok(self.marks.unembedded(begin, self.unreadable(), space, limit.min(MAX_LIMIT)).await?)
    }

    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError> {
        validate::coordinates(&vectors)?;
        change::storable(&vectors)?;
        let transaction = self.write(owner).await?;
        change::embed(&transaction, owner, id, version, &vectors).await?;
        Ok(transaction.commit().await?)
    }

    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        let after = ScanCursor::parse(after, owner)?;
        let whose = owner.map_or_else(|| EVERYBODY.to_owned(), Owner::key);
        let transaction = self.begin(Mode::Read, &whose).await?;
        let limit = limit.clamp(1, MAX_LIMIT);
        let scan = transfer::scan(&transaction, self.unreadable(), owner, after, limit).await?;
        transaction.end();
        Ok(scan)
    }

    async fn restore(&self, mut whole: Whole, write: &Write) -> Result<Restored, StoreError> {
        validate::whole(&mut whole)?;
        change::storable(&whole.vectors)?;
        let transaction = self.write(&whole.memory.owner).await?;
        let (restored, number) =
            transfer::restore(&transaction, self.unreadable(), &whole, write).await?;
        let Some(number) = number else {
            transaction.end();
            return Ok(restored);
        };
        transaction.commit().await?;
        self.marks.changed(number);
        Ok(restored)
    }

    async fn clear(&self, write: &Write) -> Result<(), StoreError> {
        let transaction = self.begin(Mode::Write, EVERYBODY).await?;
        change::clear(&transaction).await?;
        transaction.commit().await?;
        write.told(0);
        Ok(())
    }

    async fn check(&self) -> Result<(), StoreError> {
        let outcome = self.look().await;
        match &outcome {
            // A busy database can be used.
            Ok(()) => self.set(State::Ready),
            Err(Fault::Busy(_)) => {}
            Err(fault) => self.set(State::Away(fault.to_string())),
        }
        Ok(outcome?)
    }

    fn is_enabled(&self) -> bool {
        self.met.load(Ordering::Acquire) && !matches!(self.state(), State::Closed)
    }

    async fn close(&self) {
        self.set(State::Closed);
        self.pool.close().await;
    }
}

#[cfg(test)]
mod tests;
