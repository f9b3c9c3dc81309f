//! Exchanges that have begun and are not yet in the journal, so that a flush
//! can wait for those of its user, and for those whose user is not known yet.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;

use crate::memory::Owner;

/// All exchanges in flight. The gateway's bound on streams bounds them.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    next: AtomicU64,
    // Held for a look-up only, never over an await.
    begun: Mutex<HashMap<u64, Option<Owner>>>,
    changed: Notify,
}

impl Exchanges {
    pub(super) fn begin(self: &Arc<Self>) -> InFlight {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, None);
        InFlight { exchanges: self.clone(), number }
    }

    /// Waits until every exchange that has begun by now, and is or turns out to
    /// be this owner's, has ended.
    pub(super) async fn settled(&self, owner: &Owner) {
        let before = self.next.load(Ordering::Relaxed);
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before looking, or a change in between would be missed.
            changed.as_mut().enable();
            let waits = self.lock().iter().any(|(number, known)| {
                *number < before && known.as_ref().is_none_or(|known| known == owner)
            });
            if !waits {
                return;
            }
            changed.await;
        }
    }

    /// Exchanges that are, or may be, this owner's.
    pub(super) fn count(&self, owner: &Owner) -> u64 {
        let may_be = |known: &Option<Owner>| known.as_ref().is_none_or(|known| known == owner);
        self.lock().values().filter(|known| may_be(known)).count() as u64
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Option<Owner>>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An exchange in flight; dropping it ends that, however the exchange ended.
#[derive(Debug)]
#[must_use = "dropping it at once would end the exchange"]
pub struct InFlight {
    exchanges: Arc<Exchanges>,
    number: u64,
}

impl InFlight {
    /// Says whose exchange it is, so that nobody else's flush waits for it.
    pub fn known(&self, owner: &Owner) {
        self.exchanges.lock().insert(self.number, Some(owner.clone()));
        self.exchanges.changed.notify_waiters();
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.exchanges.lock().remove(&self.number);
        self.exchanges.changed.notify_waiters();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_own_and_unknown_exchanges_are_waited_for_and_not_those_begun_later() {
        let exchanges = Arc::new(Exchanges::default());
        let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
        let (first, second, third) = (exchanges.begin(), exchanges.begin(), exchanges.begin());
        first.known(&alice);
        second.known(&bob);
        let waiting = tokio::spawn({
            let (exchanges, alice) = (exchanges.clone(), alice.clone());
            async move { exchanges.settled(&alice).await }
        });
        tokio::task::yield_now().await;
        let _later = exchanges.begin();
        drop(first);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "the third may still be alice's");
        third.known(&bob);
        waiting.await.unwrap();
    }
}
