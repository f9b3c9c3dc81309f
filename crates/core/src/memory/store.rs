//! The interface of a store. All implementations pass one conformance suite.

mod wrap;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::memory::{
    Embedding, Evidence, Filter, ListQuery, Memory, MemoryId, Owner, Page, Restored, Scan,
    ScopeQuery, Search, Whole, Write,
};

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such memory of that owner.
    #[error("no such memory")]
    NotFound,
    /// A memory of that id exists already.
    #[error("a memory of this id exists already")]
    Exists,
    /// Somebody else changed the memory first.
    #[error("version {expected} was expected, version {found} is stored")]
    Conflict {
        /// The version that the caller had read.
        expected: u32,
        /// The stored version.
        found: u32,
    },
    /// A value that cannot be stored; names the field and the cause.
    #[error("{field}: {cause}")]
    Invalid {
        /// The offending field.
        field: &'static str,
        /// The cause.
        cause: String,
    },
    /// The memory is stored, and a value in it cannot be read; names the value. Lists, searches and scans pass over it.
    #[error("the stored {0} of this memory cannot be read; only deleting the memory is possible")]
    Unreadable(&'static str),
    /// A bound was reached; asking again later may help.
    #[error("the store is busy: {0}")]
    Busy(&'static str),
    /// The store cannot be reached or used now. Whether a change was made all the same, nobody
    /// knows: the answer may be what was lost.
    #[error("store unavailable: {0}")]
    Unavailable(String),
}

/// The memories of one owner to forget.
#[derive(Clone, Debug, PartialEq)]
pub struct ForgetScope {
    /// Whose.
    pub owner: Owner,
    /// Only this project's; `None` is everything of the owner.
    pub project_id: Option<String>,
}

/// Memories that were presented.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// Whose.
    pub owner: Owner,
    /// Which.
    pub id: MemoryId,
    /// When.
    pub at: Timestamp,
}

/// How much an owner, or the store, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Memories.
    pub total: u64,
    /// Those of them with a vector in the asked space.
    pub embedded: u64,
}

/// Where memories live. Reads return only what is in use (active or review,
/// not expired) unless a method says otherwise; every method sees only the
/// owner it is given. Every method ends by itself within a bound of the store's.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Writes a new memory with its vectors. Times are kept to the microsecond;
    /// what is returned is what is stored.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when the owner has this id already;
    /// [`StoreError::Invalid`] names the field that cannot be stored.
    async fn store(
        &self,
        memory: Memory,
        vectors: Vec<Embedding>,
        write: &Write,
    ) -> Result<Memory, StoreError>;

    /// The evidence for a search, best dense and best lexical merged.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Busy`].
    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError>;

    /// One memory, whatever its status, unless expired at `now`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], also for another owner's memory; [`StoreError::Unreadable`].
    async fn get(&self, owner: &Owner, id: &MemoryId, now: Timestamp)
    -> Result<Memory, StoreError>;

    /// Several memories at once, each of its owner, in the order asked. Those that do not exist, and those that have
    /// expired at `now`, are passed over.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] or [`StoreError::Busy`].
    async fn get_all(
        &self,
        asked: &[(Owner, MemoryId)],
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Writes a new version of `memory.id`; the old one stays in the history.
    /// `memory.version` is the version the caller read; the stored one is one more.
    /// `vectors: None` keeps the old vectors, unless the content changed: then
    /// the memory has none until it is back-filled. The counters of presentations
    /// (`access_count`, `last_accessed_at`) and `created_at` stay as stored.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Conflict`], [`StoreError::Invalid`].
    async fn update(
        &self,
        memory: Memory,
        vectors: Option<Vec<Embedding>>,
        write: &Write,
    ) -> Result<Memory, StoreError>;

    /// Writes what else is known of a memory without making a version: its session,
    /// confidence, metadata and provenance; the rest of `memory` is passed over.
    /// `memory.version` is the version the caller read, and stays.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Conflict`], [`StoreError::Invalid`].
    async fn amend(&self, memory: Memory) -> Result<(), StoreError>;

    /// All versions of a memory, newest first.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError>;

    /// The embedding spaces in which a memory has a vector, sorted.
    ///
    /// # Errors
    /// [`StoreError::NotFound`].
    async fn spaces(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<String>, StoreError>;

    /// Removes a memory, its history and its vectors. Returns what was removed: 0 or 1.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn forget(&self, owner: &Owner, id: &MemoryId, write: &Write) -> Result<u64, StoreError>;

    /// Forgets several memories at once. Unknown ids are passed over.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn forget_all(
        &self,
        owner: &Owner,
        ids: &[MemoryId],
        write: &Write,
    ) -> Result<u64, StoreError>;

    /// Removes the earlier versions of a memory and leaves the last. Returns how many.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        write: &Write,
    ) -> Result<u64, StoreError>;

    /// Removes everything in a scope, with history and vectors; returns how many memories.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn forget_by_scope(&self, scope: &ForgetScope, write: &Write) -> Result<u64, StoreError>;

    /// A page, newest first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError>;

    /// How many memories a scope holds, and how many of them `space` covers. Without a status filter only active and
    /// review ones are counted, as they are listed.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError>;

    /// Raises access counts. Unknown ids are passed over: a forgotten memory
    /// must not come back because somebody had just read it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError>;

    /// Keeps the memories of an owner that expire, and have not by `now`, until a time, unless they last longer.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn keep_until(
        &self,
        owner: &Owner,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Memories of any owner without a vector in `space`, oldest first, to back-fill.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError>;

    /// Gives a memory its vectors without making a version. Passed over when
    /// the memory is gone or has another version by now.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError>;

    /// Everything that there is of one owner, or with `None` of everybody: whatever its status, and
    /// what has expired as well. `limit` memories at most, and fewer where they are large; only
    /// [`Scan::next`] says whether there are more.
    ///
    /// `after` is where an earlier scan of the same owner, or of everybody, ended. It stays good
    /// while memories come and go: what was there all the time is met exactly once.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when `after` is no such place, [`StoreError::Unavailable`].
    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError>;

    /// Writes a memory exactly as it is, with its version, its history, its counts and its vectors.
    /// If the owner already has a memory of this id, nothing is changed, and the result says whether
    /// it is the same ([`Whole::is_kept_by`]). `write` is recorded as the origin of all versions.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names the field that cannot be stored.
    async fn restore(&self, whole: Whole, write: &Write) -> Result<Restored, StoreError>;

    /// Removes everything of everybody. For tests and for importing afresh.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn clear(&self, write: &Write) -> Result<(), StoreError>;

    /// Takes the vectors of a space into use: a store whose collections are of one model and
    /// dimension compares them with the configuration when it is opened. Others search any space.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when nothing was ever embedded in it, [`StoreError::Unavailable`].
    async fn use_space(&self, space: &str) -> Result<(), StoreError> {
        let _ = space;
        Ok(())
    }

    /// Whether a real read works now. A store that is still connecting waits for the outcome.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] with the cause.
    async fn check(&self) -> Result<(), StoreError>;

    /// Whether the store takes work, as far as is known: false while it cannot be reached, and
    /// once it is closed.
    fn is_enabled(&self) -> bool;

    /// Waits until the store takes work again. The default never returns.
    async fn back(&self) {
        std::future::pending().await
    }

    /// Ends the store; what was acknowledged is durable.
    async fn close(&self);
}
