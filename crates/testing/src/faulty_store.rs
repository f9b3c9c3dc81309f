//! A faulty store for tests: it can fail on demand.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::watch;

use memgate_core::memory::{
    Counts, Embedding, Evidence, Filter, ForgetScope, ListQuery, Memory, MemoryId, MemoryStore,
    Owner, Page, Restored, Scan, ScopeQuery, Search, StoreError, Touch, Whole, Write,
};

/// Behaviour of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Does what the store within does.
    Works,
    /// Refuses connections.
    Refuses,
    /// Never answers.
    Hangs,
    /// Only reads and checks work.
    ReadsOnly,
    /// Reports that it is busy.
    Busy,
}

/// A store that fails on demand.
pub struct FaultyStore {
    store: Arc<dyn MemoryStore>,
    mode: watch::Sender<Mode>,
    /// Whether it was ever reached.
    reached: Mutex<bool>,
    /// Number of operations refused while it did not work, without checks.
    pub refused: AtomicU64,
    /// Number of checks.
    pub checked: AtomicU64,
    /// Number of changes made, and the number of the change whose answer is lost.
    changes: AtomicUsize,
    lost: AtomicUsize,
}

enum What {
    Check,
    Read,
    Change,
}

impl FaultyStore {
    /// Wraps a store.
    pub fn new(store: Arc<dyn MemoryStore>, mode: Mode) -> Arc<Self> {
        Arc::new(Self {
            store,
            mode: watch::Sender::new(mode),
            reached: (mode == Mode::Works).into(),
            refused: 0.into(),
            checked: 0.into(),
            changes: 0.into(),
            lost: usize::MAX.into(),
        })
    }

    /// Changes the behaviour; hanging operations are answered.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Makes the change with this number (from 0) but loses its answer, and refuses everything
    /// afterwards.
    pub fn lose_answer(&self, number: usize) {
        self.lost.store(number, Ordering::SeqCst);
    }

    /// Number of changes made.
    pub fn changes(&self) -> usize {
        self.changes.load(Ordering::SeqCst)
    }

    /// Whether it behaves like this.
    pub fn is(&self, mode: Mode) -> bool {
        *self.mode.borrow() == mode
    }

    async fn pass(&self, what: What) -> Result<(), StoreError> {
        if matches!(what, What::Check) {
            self.checked.fetch_add(1, Ordering::SeqCst);
        }
        let works = |mode: Mode| match (mode, &what) {
            (Mode::Works, _)
            | (Mode::ReadsOnly, What::Check | What::Read)
            | (Mode::Busy, What::Check) => Some(Ok(())),
            (Mode::Busy, _) => Some(Err(StoreError::Busy("switched to it"))),
            (Mode::Refuses | Mode::ReadsOnly, _) => {
                Some(Err(StoreError::Unavailable("switched off".into())))
            }
            (Mode::Hangs, _) => None,
        };
        if !self.is(Mode::Works) && !matches!(what, What::Check) {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
        let mut modes = self.mode.subscribe();
        let passed = loop {
            let passed = works(*modes.borrow_and_update());
            match passed {
                Some(passed) => break passed,
                None => modes.changed().await.unwrap(),
            }
        };
        if passed.is_ok() {
            *self.reached.lock().unwrap() = true;
        }
        passed
    }

    async fn read<T>(
        &self,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.pass(What::Read).await?;
        read.await
    }

    async fn change<T>(
        &self,
        change: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.pass(What::Change).await?;
        let outcome = change.await;
        let number = self.changes.fetch_add(1, Ordering::SeqCst);
        if number == self.lost.load(Ordering::SeqCst) {
            self.set(Mode::Refuses);
            return Err(StoreError::Unavailable("the answer was lost".into()));
        }
        outcome
    }
}

#[async_trait]
impl MemoryStore for FaultyStore {
    async fn store(
        &self,
        memory: Memory,
        vectors: Vec<Embedding>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        self.change(self.store.store(memory, vectors, write)).await
    }

    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError> {
        self.read(self.store.retrieve(search)).await
    }

    async fn get(
        &self,
        owner: &Owner,
        id: &MemoryId,
        now: Timestamp,
    ) -> Result<Memory, StoreError> {
        self.read(self.store.get(owner, id, now)).await
    }

    async fn update(
        &self,
        memory: Memory,
        vectors: Option<Vec<Embedding>>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        self.change(self.store.update(memory, vectors, write)).await
    }

    async fn amend(&self, memory: Memory) -> Result<(), StoreError> {
        self.change(self.store.amend(memory)).await
    }

    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError> {
        self.read(self.store.history(owner, id)).await
    }

    async fn forget(&self, owner: &Owner, id: &MemoryId, write: &Write) -> Result<u64, StoreError> {
        self.change(self.store.forget(owner, id, write)).await
    }

    async fn forget_all(
        &self,
        owner: &Owner,
        ids: &[MemoryId],
        write: &Write,
    ) -> Result<u64, StoreError> {
        self.change(self.store.forget_all(owner, ids, write)).await
    }

    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        write: &Write,
    ) -> Result<u64, StoreError> {
        self.change(self.store.forget_history(owner, id, write)).await
    }

    async fn forget_by_scope(&self, scope: &ForgetScope, write: &Write) -> Result<u64, StoreError> {
        self.change(self.store.forget_by_scope(scope, write)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.read(self.store.list(query)).await
    }

    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        self.read(self.store.count(scope, filter, space, now)).await
    }

    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError> {
        self.change(self.store.touch(touches)).await
    }

    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.read(self.store.unembedded(space, limit)).await
    }

    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError> {
        self.change(self.store.embed(owner, id, version, vectors)).await
    }

    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        self.read(self.store.scan(owner, after, limit)).await
    }

    async fn restore(&self, whole: Whole, write: &Write) -> Result<Restored, StoreError> {
        self.change(self.store.restore(whole, write)).await
    }

    async fn clear(&self, write: &Write) -> Result<(), StoreError> {
        self.change(self.store.clear(write)).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.pass(What::Check).await?;
        self.store.check().await
    }

    fn is_enabled(&self) -> bool {
        *self.reached.lock().unwrap() && self.store.is_enabled()
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
