//! A bounded queue between async callers and a thread: putting never waits,
//! taking does.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Why an item was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The bound is reached.
    Full,
    /// The queue is closed.
    Closed,
}

/// What a taker got.
pub(super) enum Taken<T> {
    /// At least one item.
    Items(Vec<T>),
    /// Nothing came in time.
    Nothing,
    /// The queue is closed and empty: nothing will come any more.
    Ended,
}

pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    /// Signalled when an item comes or the queue closes.
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

    /// Puts an item last.
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

    /// Waits for an item, then takes what is there, at most `most`. Waits for
    /// ever when there is no `patience`.
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

    /// Takes nothing in any more; what waits is still handed out.
    pub(super) fn close(&self) {
        self.lock().open = false;
        self.changed.notify_all();
    }

    /// The state is only ever changed in one step, so a panic elsewhere cannot
    /// leave it half-changed: a poisoned lock is as good as any.
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
    fn a_full_queue_refuses_and_takes_again_once_emptied() {
        let queue = Queue::new(2);
        assert_eq!([1, 2, 3].map(|n| queue.put(n)), [Ok(()), Ok(()), Err(Refused::Full)]);
        assert_eq!(items(queue.take(10, None)), Some(vec![1, 2]));
        assert_eq!(queue.put(4), Ok(()));
    }

    #[test]
    fn a_closed_queue_hands_out_what_waits_and_then_ends() {
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
    fn a_taker_with_patience_goes_on_without_an_item() {
        let queue = Queue::<u8>::new(1);
        assert!(matches!(queue.take(1, Some(Duration::from_millis(1))), Taken::Nothing));
    }
}
