//! Search indexes of the owners who searched last, kept in memory.
//!
//! An entry has the owner's generation at the time it was read, and is used only if the database
//! still has that generation, so no invalidation is needed. It must not depend on the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

/// Maximum share of one owner (1/4). A larger index is read from the file each time, so that it
/// does not evict all others.
const SHARE: usize = 4;

/// The search index of an owner.
pub(crate) trait Cached {
    /// The owner's generation when it was read. Numbers only rise, and none is used twice.
    fn generation(&self) -> i64;
    /// Memory used, in bytes.
    fn bytes(&self) -> usize;
}

/// Owner indexes by partition key; the least recently used is evicted first.
pub(crate) struct OwnerCache<T> {
    kept: Mutex<Kept<T>>,
    /// Maximum size of all entries.
    bound: usize,
}

struct Kept<T> {
    entries: LruCache<String, Arc<T>>,
    /// Total size of the entries.
    bytes: usize,
}

impl<T: Cached> OwnerCache<T> {
    pub(crate) fn new(bound: usize) -> Self {
        let kept = Kept { entries: LruCache::unbounded(), bytes: 0 };
        Self { kept: Mutex::new(kept), bound }
    }

    /// Maximum size of one entry, in bytes.
    pub(crate) fn entry_bound(&self) -> usize {
        self.bound / SHARE
    }

    /// The owner's index, if it has this generation.
    pub(crate) fn get(&self, owner: &str, generation: i64) -> Option<Arc<T>> {
        let mut kept = self.lock();
        let entry = kept.entries.get(owner)?;
        (entry.generation() == generation).then(|| entry.clone())
    }

    /// Stores an index, unless a newer one is stored or it is too large.
    pub(crate) fn put(&self, owner: &str, index: &Arc<T>) {
        let size = index.bytes() + owner.len();
        if size > self.entry_bound() {
            return;
        }
        let mut kept = self.lock();
        if kept.entries.peek(owner).is_some_and(|old| old.generation() > index.generation()) {
            return;
        }
        if let Some(old) = kept.entries.put(owner.to_owned(), index.clone()) {
            kept.bytes -= old.bytes() + owner.len();
        }
        kept.bytes += size;
        while kept.bytes > self.bound {
            let Some((owner, dropped)) = kept.entries.pop_lru() else { break };
            kept.bytes -= dropped.bytes() + owner.len();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Every change is a complete step, so a poisoned lock still protects a consistent state.
    fn lock(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The indexes of what is searched. Those of what others share are found in two steps: readers who may read the same
/// memories share one.
pub(crate) struct IndexCache<T> {
    /// By the key of an owner, or of a set of shared memories.
    pub(crate) indexes: OwnerCache<T>,
    /// By the key of a reader.
    pub(crate) readers: OwnerCache<SharedSet>,
    /// Held while what others share is read: one reads it, and the others find it here.
    pub(crate) reading: tokio::sync::Mutex<()>,
}

impl<T: Cached> IndexCache<T> {
    pub(crate) fn new(bound: usize) -> Self {
        let of_readers = bound / READERS;
        let indexes = OwnerCache::new(bound - of_readers);
        let readers = OwnerCache::new(of_readers);
        Self { indexes, readers, reading: tokio::sync::Mutex::default() }
    }
}

/// The share of the readers in a cache (1/16).
const READERS: usize = 16;

/// The set of shared memories that a reader may read.
pub(crate) struct SharedSet {
    pub(crate) generation: i64,
    /// The key of its index.
    pub(crate) key: String,
}

impl Cached for SharedSet {
    fn generation(&self) -> i64 {
        self.generation
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.key.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of 100 bytes.
    struct Index(i64);

    impl Cached for Index {
        fn generation(&self) -> i64 {
            self.0
        }

        fn bytes(&self) -> usize {
            100
        }
    }

    fn index(generation: i64) -> Arc<Index> {
        Arc::new(Index(generation))
    }

    #[test]
    fn returns_only_the_same_generation_and_keeps_newer_ones() {
        let cache = OwnerCache::new(1 << 20);
        cache.put("a", &index(2));
        assert!(cache.get("a", 2).is_some());
        assert!(cache.get("a", 3).is_none() && cache.get("b", 2).is_none());
        cache.put("a", &index(1));
        assert!(cache.get("a", 2).is_some(), "a slow reader must not push out the newer");
        cache.put("a", &index(3));
        assert!(cache.get("a", 3).is_some());
    }

    #[test]
    fn evicts_the_least_recently_used() {
        let size = index(1).bytes() + 1;
        let cache = OwnerCache::new(size * SHARE);
        for owner in ["a", "b", "c", "d"] {
            cache.put(owner, &index(1));
        }
        assert!(cache.get("a", 1).is_some());
        cache.put("e", &index(1));
        let kept = ["a", "b", "c", "d", "e"].map(|owner| cache.get(owner, 1).is_some());
        assert_eq!(kept, [true, false, true, true, true]);
        assert!(cache.lock().bytes <= cache.bound);
    }

    #[test]
    fn an_index_that_is_too_large_is_not_cached() {
        let cache = OwnerCache::new(index(1).bytes());
        cache.put("a", &index(1));
        assert!(cache.get("a", 1).is_none());
    }
}
