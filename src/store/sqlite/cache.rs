//! What a search needs of one owner's memories, kept in memory for the owners
//! who asked last.
//!
//! An entry carries the generation of the owner it was read at, and is used
//! only by a read that finds that same generation in the database: there is
//! nothing to invalidate, and so nothing to forget to invalidate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use super::index::OwnerIndex;

/// One owner may take this part of the cache; whoever has more is read from the
/// file each time, so that one cannot push out all others.
const SHARE: usize = 4;

/// Owner indexes, by partition key, the least recently used dropped first.
pub(super) struct Cache {
    kept: Mutex<Kept>,
    /// What all entries together may take.
    bound: usize,
}

struct Kept {
    entries: LruCache<String, Arc<OwnerIndex>>,
    /// The sum of the entries' sizes.
    bytes: usize,
}

impl Cache {
    pub(super) fn new(bound: usize) -> Self {
        let kept = Kept { entries: LruCache::unbounded(), bytes: 0 };
        Self { kept: Mutex::new(kept), bound }
    }

    /// The most that one entry may take, in bytes.
    pub(super) fn entry_bound(&self) -> usize {
        self.bound / SHARE
    }

    /// The owner's index, if it is of this generation and can answer for this space.
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

    /// Keeps an index, unless a newer one is kept already or it is too large.
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

    /// The state is changed in whole steps, so a poisoned lock is as good as any.
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
    fn only_the_same_generation_is_handed_out_and_a_newer_one_is_kept() {
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
    fn the_least_recently_used_goes_when_the_bytes_are_used_up() {
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
    fn an_owner_with_too_much_is_not_kept() {
        let cache = Cache::new(index(1).bytes());
        cache.put("a", &index(1));
        assert!(cache.get("a", 1, None).is_none());
    }
}
