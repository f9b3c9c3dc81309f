//! The bytes that capture may hold for all exchanges in flight. At the bound an
//! exchange is not learnt from; it is never slowed.

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
    /// A budget of this many bytes.
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

/// What one exchange holds; given back when dropped.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    held: usize,
}

impl Share {
    /// Takes more; false, and nothing taken, when the budget does not have it.
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

    /// Holds exactly this much; false, and nothing changed, when the budget does not have it.
    #[must_use]
    pub fn resize(&mut self, bytes: usize) -> bool {
        if bytes > self.held {
            return self.grow(bytes - self.held);
        }
        self.shrink_to(bytes);
        true
    }

    /// Gives back what is held beyond `bytes`.
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
    fn what_is_dropped_is_free_again() {
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
