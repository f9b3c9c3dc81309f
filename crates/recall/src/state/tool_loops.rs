//! The cache of contexts for tool loops. Every call of one loop must get the same bytes, whatever was learnt
//! between the calls, or the model server's prefix cache is lost and the model sees its past change.

use std::{
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use lru::LruCache;
use sha2::{Digest, Sha256};

use crate::present::Context;
use memgate_core::memory::Owner;

/// Loops cached at once; the oldest is dropped first and then searched anew.
const MAX_LOOPS: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();
/// Bytes of each end of a long text that are hashed: a request waits for it.
const HASHED: usize = 64 * 1024;
/// A loop takes this long at most between two of its calls.
const HELD_FOR: Duration = Duration::from_secs(600);

/// Which loop: a digest, so that no text is kept for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopKey([u8; 32]);

impl LoopKey {
    /// The loop that a user message opened. `place` distinguishes the conversations of one
    /// user: session id, conversation, first message, as far as they are known.
    /// The key of a tool loop. The length and both ends of a very long text are hashed.
    #[must_use]
    pub fn of(owner: &Owner, place: &[&str], user_text: &str) -> Self {
        let mut hash = Sha256::new();
        for part in
            [owner.key().as_str()].into_iter().chain(place.iter().copied()).chain([user_text])
        {
            let part = part.as_bytes();
            hash.update((part.len() as u64).to_be_bytes());
            if part.len() <= 2 * HASHED {
                hash.update(part);
            } else {
                hash.update(&part[..HASHED]);
                hash.update(&part[part.len() - HASHED..]);
            }
        }
        Self(hash.finalize().into())
    }
}

/// The contexts of open tool loops.
#[derive(Debug)]
pub struct ToolLoopCache {
    // Held for a look-up only, never over an await.
    held: Mutex<LruCache<LoopKey, Held>>,
}

#[derive(Debug)]
struct Held {
    owner: Owner,
    at: Instant,
    context: Context,
}

impl Default for ToolLoopCache {
    fn default() -> Self {
        Self { held: Mutex::new(LruCache::new(MAX_LOOPS)) }
    }
}

impl ToolLoopCache {
    /// A loop of this owner begins: until it is known what its first call gets,
    /// its other calls get nothing.
    pub fn begin(&self, key: LoopKey, owner: &Owner) {
        let held = Held { owner: owner.clone(), at: Instant::now(), context: Context::default() };
        self.lock().put(key, held);
    }

    /// Remembers what a loop's first call got; not for a loop that was dropped
    /// meanwhile, since something in it may just have been forgotten.
    pub fn hold(&self, key: &LoopKey, context: &Context) {
        if let Some(held) = self.lock().get_mut(key) {
            held.context.clone_from(context);
        }
    }

    /// Drops all loops of an owner whose memories are forgotten.
    pub fn forget(&self, owner: &Owner) {
        let mut held = self.lock();
        let theirs: Vec<LoopKey> =
            held.iter().filter(|(_, held)| held.owner == *owner).map(|(key, _)| *key).collect();
        for key in theirs {
            held.pop(&key);
        }
    }

    /// The context of the loop's first call.
    #[must_use]
    pub fn get(&self, key: &LoopKey) -> Option<Context> {
        let mut held = self.lock();
        let found = held.get_mut(key)?;
        if found.at.elapsed() > HELD_FOR {
            held.pop(key);
            return None;
        }
        // A long loop stays held as long as its calls come.
        found.at = Instant::now();
        Some(found.context.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LruCache<LoopKey, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_gets_its_context_again_and_another_users_loop_does_not() {
        let held = ToolLoopCache::default();
        let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
        let context = Context { text: "c".into(), ..Context::default() };
        let key = LoopKey::of(&alice, &["s"], "book it");
        held.begin(key, &alice);
        assert_eq!(held.get(&key), Some(Context::default()));
        held.hold(&key, &context);
        assert_eq!(held.get(&LoopKey::of(&alice, &["s"], "book it")), Some(context));
        assert_eq!(held.get(&LoopKey::of(&bob, &["s"], "book it")), None);
        assert_eq!(held.get(&LoopKey::of(&alice, &["t"], "book it")), None);
    }

    #[test]
    fn what_is_forgotten_is_held_no_longer_nor_by_a_search_that_had_begun() {
        let held = ToolLoopCache::default();
        let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
        let context = Context { text: "c".into(), ..Context::default() };
        let key = |owner, text| LoopKey::of(owner, &["s"], text);
        let loops = [(&alice, "known"), (&alice, "searching"), (&bob, "known")];
        loops.iter().for_each(|(owner, text)| held.begin(key(owner, text), owner));
        held.hold(&key(&alice, "known"), &context);
        held.hold(&key(&bob, "known"), &context);
        held.forget(&alice);
        held.hold(&key(&alice, "searching"), &context);
        assert_eq!(held.get(&key(&alice, "known")), None);
        assert_eq!(held.get(&key(&alice, "searching")), None);
        assert_eq!(held.get(&key(&bob, "known")), Some(context));
    }
}
