//! Search indexes of the owners who searched last, kept in memory.
//!
//! An entry has the owner's generation at the time it was read, and is used only if the database
//! still has that generation, so no invalidation is needed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::sqlite::index::OwnerIndex;

/// Maximum share of one owner (1/4). A larger index is read from the file each time, so that it
/// does not evict all others.
const SHARE: usize = 4;

/// Owner indexes by partition key; the least recently used is evicted first.
pub(super) struct Cache {
    kept: Mutex<Kept>,
    /// Maximum size of all entries.
    bound: usize,
}

struct Kept {
    entries: LruCache<String, Arc<OwnerIndex>>,
    /// Total size of the entries.
    bytes: usize,
}

impl Cache {
    pub(super) fn new(bound: usize) -> Self {
        let kept = Kept { entries: LruCache::unbounded(), bytes: 0 };
        Self { kept: Mutex::new(kept), bound }
    }

    /// Maximum size of one entry, in bytes.
    pub(super) fn entry_bound(&self) -> usize {
        self.bound / SHARE
    }

    /// The owner's index, if it has this generation and covers this space.
    pub(super) fn get(
        &self,
        owner: &str,
        generation: i64,
        space: Option<&str>,
    ) -> Option<Arc<OwnerIndex>> {
        let mut kept = self.lock();
        let entry = kept.entries.get(owner)?;
        (entry.generation == generation && entry.answers(space)).then(|| entry.clone())
    }

    /// Stores an index, unless a newer one is stored or it is too large.
    pub(super) fn put(&self, owner: &str, index: &Arc<OwnerIndex>) {
        let size = index.bytes() + owner.len();
        if size > self.entry_bound() {
            return;
        }
        let mut kept = self.lock();
        if kept.entries.peek(owner).is_some_and(|old| old.generation > index.generation) {
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

    /// Every change is a complete step, so a poisoned lock still protects a consistent state.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(generation: i64) -> Arc<OwnerIndex> {
        let mut index = OwnerIndex::default();
        index.generation = generation;
        Arc::new(index)
    }

    #[test]
    fn returns_only_the_same_generation_and_keeps_newer_ones() {
        let cache = Cache::new(1 << 20);
        cache.put("a", &index(2));
        assert!(cache.get("a", 2, None).is_some());
        assert!(cache.get("a", 3, None).is_none() && cache.get("b", 2, None).is_none());
        cache.put("a", &index(1));
        assert!(cache.get("a", 2, None).is_some(), "a slow reader must not push out the newer");
        cache.put("a", &index(3));
        assert!(cache.get("a", 3, None).is_some());
    }

    #[test]
    fn evicts_the_least_recently_used() {
        let size = index(1).bytes() + 1;
        let cache = Cache::new(size * SHARE);
        for owner in ["a", "b", "c", "d"] {
            cache.put(owner, &index(1));
        }
        assert!(cache.get("a", 1, None).is_some());
        cache.put("e", &index(1));
        let kept = ["a", "b", "c", "d", "e"].map(|owner| cache.get(owner, 1, None).is_some());
        assert_eq!(kept, [true, false, true, true, true]);
        assert!(cache.lock().bytes <= cache.bound);
    }

    #[test]
    fn an_index_that_is_too_large_is_not_cached() {
        let cache = Cache::new(index(1).bytes());
        cache.put("a", &index(1));
        assert!(cache.get("a", 1, None).is_none());
    }
}
