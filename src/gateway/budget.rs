//! A byte budget for all exchanges that capture has in flight. An exchange over the budget is not
//! learned from; it is never slowed down.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A byte budget shared by all exchanges.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    /// Creates a budget of this many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0) })
    }

    /// An empty share.
    #[must_use]
    pub fn share(self: &Arc<Self>) -> Share {
        Share { budget: Arc::clone(self), held: 0 }
    }
}

/// The bytes one exchange holds; returned on drop.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    held: usize,
}

impl Share {
    /// Takes more bytes. Returns false, and takes nothing, if the budget is exhausted.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let taken = self.budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|total| *total <= self.budget.limit)
        });
        if taken.is_ok() {
            self.held += bytes;
        }
        taken.is_ok()
    }

    /// Holds exactly this many bytes. Returns false, and changes nothing, if the budget is
    /// exhausted.
    #[must_use]
    pub fn resize(&mut self, bytes: usize) -> bool {
        if bytes > self.held {
            return self.grow(bytes - self.held);
        }
        self.shrink_to(bytes);
        true
    }

    /// Returns the bytes held beyond `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        let back = self.held.saturating_sub(bytes);
        self.held -= back;
        self.budget.used.fetch_sub(back, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_a_share_returns_its_bytes() {
        let budget = Budget::new(10);
        let (mut one, mut two) = (budget.share(), budget.share());
        assert!(one.grow(6));
        assert!(!two.grow(5));
        assert!(two.grow(4));
        drop(one);
        assert!(two.grow(6));
        two.shrink_to(1);
        assert!(budget.share().grow(9));
    }
}
