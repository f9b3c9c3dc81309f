//! Recent writes of this process that a read may not show yet.
//!
//! Reads use bounded consistency, so they may miss writes of the last seconds. Acknowledged writes
//! are kept here for longer than that and merged into the results. The size is bounded; if it is
//! exceeded, reads are strong for a while instead.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::milvus::rows::Stored;
use memgate_core::memory::{Embedding, Owner};

/// Maximum size, in bytes: about ten thousand memories.
const BOUND: usize = 64 << 20;

/// A memory as this process wrote it.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) stored: Stored,
    /// Number of rows of its record.
    pub(super) pieces: i64,
    /// Vectors that were written with it or shortly before.
    pub(super) vectors: Vec<Embedding>,
}

/// The outcome of a recent write.
#[derive(Clone, Debug)]
pub(super) enum Recent {
    /// It was written.
    Written(Arc<Fresh>),
    /// Removed; rows up to this revision must be ignored.
    Gone(i64),
}

#[derive(Default)]
struct Kept {
    /// By the owner's key, then the memory's.
    owners: HashMap<String, HashMap<String, (Instant, Recent)>>,
    /// In the order of writing.
    order: VecDeque<(Instant, String, String, usize)>,
    bytes: usize,
}

/// Recent writes.
pub(super) struct Overlay {
    kept: Mutex<Kept>,
    /// How long a write is kept.
    horizon: Duration,
}

impl Overlay {
    pub(super) fn new(horizon: Duration) -> Self {
        Self { kept: Mutex::default(), horizon }
    }

    /// Adds a write. Returns false if a write that may still be needed was evicted.
    #[must_use]
    pub(super) fn put(&self, owner: &Owner, memory: &str, recent: Recent) -> bool {
        let now = Instant::now();
        let size = owner.key().len() + memory.len() + recent.bytes();
        let mut kept = self.lock();
        let place = (now, owner.key(), memory.to_owned(), size);
        let of_owner = kept.owners.entry(place.1.clone()).or_default();
        of_owner.insert(place.2.clone(), (now, recent));
        kept.order.push_back(place);
        kept.bytes += size;
        let mut whole = true;
        while let Some((at, ..)) = kept.order.front() {
            let old = now.duration_since(*at) > self.horizon;
            if !old && kept.bytes <= BOUND {
                break;
            }
            whole &= old;
            kept.drop_first();
        }
        whole
    }

    /// An owner's recent writes, by the memory's key.
    pub(super) fn of(&self, owner: &Owner) -> HashMap<String, Recent> {
        let kept = self.lock();
        let recent = kept.owners.get(&owner.key()).into_iter().flatten();
        recent.map(|(memory, (_, recent))| (memory.clone(), recent.clone())).collect()
    }

    /// The recent writes in a tenant, by the memory's key.
    pub(super) fn of_tenant(&self, owner: &Owner) -> HashMap<String, Recent> {
        let tenant = format!("{}/", owner.tenant_key());
        let kept = self.lock();
        let owners = kept.owners.iter().filter(|(key, _)| key.starts_with(&tenant));
        let recent = owners.flat_map(|(_, memories)| memories);
        recent.map(|(memory, (_, recent))| (memory.clone(), recent.clone())).collect()
    }

    /// The recent write of one memory.
    pub(super) fn one(&self, owner: &Owner, memory: &str) -> Option<Recent> {
        let kept = self.lock();
        kept.owners.get(&owner.key())?.get(memory).map(|(_, recent)| recent.clone())
    }

    /// Recent writes of all owners.
    pub(super) fn all(&self) -> Vec<(String, Recent)> {
        let kept = self.lock();
        let all = kept.owners.values().flatten();
        all.map(|(memory, (_, recent))| (memory.clone(), recent.clone())).collect()
    }

    /// Removes all writes.
    pub(super) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    /// Every change is a complete step, so a poisoned lock still protects a consistent state.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn drop_first(&mut self) {
        let Some((at, owner, memory, size)) = self.order.pop_front() else { return };
        self.bytes -= size;
        let Some(of_owner) = self.owners.get_mut(&owner) else { return };
        // A later write of the same memory stays.
        if of_owner.get(&memory).is_some_and(|(written, _)| *written == at) {
            of_owner.remove(&memory);
        }
        if of_owner.is_empty() {
            self.owners.remove(&owner);
        }
    }
}

impl Recent {
    fn bytes(&self) -> usize {
        match self {
            Self::Gone(_) => size_of::<Self>(),
            Self::Written(fresh) => {
                let memory = &fresh.stored.memory;
                let texts = memory.sides().chain(memory.raw.as_deref());
                let text = texts.map(str::len).sum::<usize>();
                let vectors = fresh.vectors.iter().map(|vector| size_of_val(&*vector.values));
                // The fixed part is an estimate for an ordinary memory.
                size_of::<Fresh>() + text + vectors.sum::<usize>() + 512
            }
        }
    }

    /// Whether a row of this revision is obsolete.
    pub(super) fn hides(&self, revision: i64) -> bool {
        match self {
            Self::Written(fresh) => fresh.stored.revision >= revision,
            Self::Gone(last) => *last >= revision,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(user: &str) -> Owner {
        Owner::of_user(user).unwrap()
    }

    #[test]
    fn a_later_write_outlives_an_earlier_one_of_the_same_memory() {
        let overlay = Overlay::new(Duration::ZERO);
        assert!(overlay.put(&owner("a"), "m", Recent::Gone(1)));
        assert!(overlay.put(&owner("a"), "m", Recent::Gone(2)));
        assert!(matches!(overlay.one(&owner("a"), "m"), Some(Recent::Gone(2))));
        assert!(overlay.put(&owner("b"), "m", Recent::Gone(3)));
        assert!(overlay.of(&owner("a")).is_empty(), "its time is over");
        assert_eq!(overlay.all().len(), 1);
    }

    #[test]
    fn evictions_are_reported() {
        let overlay = Overlay::new(Duration::from_secs(3600));
        let key = "k".repeat(BOUND / 4);
        let kept = (0..5).map(|n| overlay.put(&owner("a"), &format!("{key}{n}"), Recent::Gone(n)));
        assert_eq!(kept.collect::<Vec<_>>(), [true, true, true, false, false]);
        assert!(overlay.lock().bytes <= BOUND);
    }
}
