//! A faulty store for tests: it can fail on demand.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use tokio::sync::watch;

use memgate_core::{
    memory::{MemoryStore, StoreError},
    wrap_memory_store,
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
    /// Panics when it is read or changed.
    Panics,
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
    /// Behaviour after the lost answer.
    after: Mutex<Mode>,
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
            after: Mode::Refuses.into(),
        })
    }

    /// Changes the behaviour; hanging operations are answered.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Makes the change with this number (from 0) but loses its answer, and behaves as `after`
    /// from then on.
    pub fn lose_answer(&self, number: usize, after: Mode) {
        *self.after.lock().unwrap() = after;
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
            | (Mode::Busy | Mode::Panics, What::Check) => Some(Ok(())),
            (Mode::Panics, _) => panic!("of a test"),
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
            let after = *self.after.lock().unwrap();
            self.set(after);
            return Err(StoreError::Unavailable("the answer was lost".into()));
        }
        outcome
    }
}

wrap_memory_store! {
    FaultyStore, read: read, change: change,

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
