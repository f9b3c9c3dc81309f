//! A bounded queue between async callers and a thread: `put` never waits, `take` does.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Why an item was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The queue is full.
    Full,
    /// The queue is closed.
    Closed,
}

/// The result of `take`.
pub(super) enum Taken<T> {
    /// At least one item.
    Items(Vec<T>),
    /// The timeout passed.
    Nothing,
    /// The queue is closed and empty.
    Ended,
}

pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Notified when an item is added or the queue is closed.
    changed: Condvar,
    bound: usize,
}

struct State<T> {
    items: VecDeque<T>,
    open: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(bound: usize) -> Self {
        let state = State { items: VecDeque::new(), open: true };
        Self { state: Mutex::new(state), changed: Condvar::new(), bound }
    }

    pub(super) fn bound(&self) -> usize {
        self.bound
    }

    /// Adds an item at the end.
    pub(super) fn put(&self, item: T) -> Result<(), Refused> {
        let mut state = self.lock();
        if !state.open {
            return Err(Refused::Closed);
        }
        if state.items.len() >= self.bound {
            return Err(Refused::Full);
        }
        state.items.push_back(item);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for an item, then takes up to `most` items. Without `patience` it waits without a
    /// timeout.
    pub(super) fn take(&self, most: usize, patience: Option<Duration>) -> Taken<T> {
        let until = patience.map(|patience| Instant::now() + patience);
        let mut state = self.lock();
        while state.items.is_empty() {
            if !state.open {
                return Taken::Ended;
            }
            let Some(until) = until else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Taken::Nothing;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let count = state.items.len().min(most);
        Taken::Items(state.items.drain(..count).collect())
    }

    /// Refuses new items; waiting ones can still be taken.
    pub(super) fn close(&self) {
        self.lock().open = false;
        self.changed.notify_all();
    }

    /// Every change of the state is a single step, so a poisoned lock still protects a consistent
    /// state.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(taken: Taken<u8>) -> Option<Vec<u8>> {
        match taken {
            Taken::Items(items) => Some(items),
            Taken::Nothing | Taken::Ended => None,
        }
    }

    #[test]
    fn a_full_queue_refuses_items_until_some_are_taken() {
        let queue = Queue::new(2);
        assert_eq!([1, 2, 3].map(|n| queue.put(n)), [Ok(()), Ok(()), Err(Refused::Full)]);
        assert_eq!(items(queue.take(10, None)), Some(vec![1, 2]));
        assert_eq!(queue.put(4), Ok(()));
    }

    #[test]
    fn a_closed_queue_returns_its_items_and_then_ends() {
        let queue = Queue::new(3);
        for n in 1..=3 {
            assert_eq!(queue.put(n), Ok(()));
        }
        queue.close();
        assert_eq!(queue.put(4), Err(Refused::Closed));
        assert_eq!(items(queue.take(2, None)), Some(vec![1, 2]));
        assert_eq!(items(queue.take(2, None)), Some(vec![3]));
        assert!(matches!(queue.take(2, None), Taken::Ended));
    }

    #[test]
    fn take_returns_after_its_timeout() {
        let queue = Queue::<u8>::new(1);
        assert!(matches!(queue.take(1, Some(Duration::from_millis(1))), Taken::Nothing));
    }
}
