//! The rate limit of a log line that could come often.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// Seconds between two lines.
const PAUSE: u64 = 10;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Lets one line pass every ten seconds. Holds when a line last passed, in seconds after the first
/// use, plus one.
#[derive(Debug, Default)]
pub struct RateLimit(AtomicU64);

impl RateLimit {
    /// Whether the line may be written now.
    #[must_use]
    pub fn allows(&self) -> bool {
        let now = START.elapsed().as_secs() + 1;
        let last = self.0.load(Ordering::Relaxed);
        (last == 0 || now >= last + PAUSE)
            && self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_passes_and_the_next_ones_do_not() {
        let limit = RateLimit::default();
        assert_eq!([0; 3].map(|_| limit.allows()), [true, false, false]);
    }
}
