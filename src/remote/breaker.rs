//! A circuit breaker: after a few failures in a row the server is left alone
//! for a while, then one request tries whether it is back.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Failures in a row until the server is left alone. Several, since one slow
/// answer is no outage.
const FAILURES: u32 = 3;

/// The first rest; doubles with each trial that fails, up to the breaker's longest.
const FIRST_REST: Duration = Duration::from_secs(2);

/// The longest that a server which says how long it wants to be left alone gets: whatever it says,
/// it is not given up for ever.
const LONGEST_WISH: Duration = Duration::from_secs(60);

pub(super) struct Breaker {
    // Held for a look only, never over an await.
    state: Mutex<State>,
    /// How late it may be noticed that the server is back.
    longest_rest: Duration,
}

enum State {
    /// Requests pass; this many failed in a row.
    Closed { failures: u32 },
    /// No request passes before `until`.
    Open { until: Instant, rest: Duration },
    /// One request is trying whether the server is back.
    Trying { rest: Duration },
}

impl Default for State {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    pub(super) fn new(longest_rest: Duration) -> Self {
        Self { state: Mutex::default(), longest_rest }
    }

    /// How long the server is still left alone; zero when a trial is due.
    pub(super) fn rest(&self, now: Instant) -> Option<Duration> {
        match *self.lock() {
            State::Closed { .. } => None,
            State::Open { until, .. } => Some(until.saturating_duration_since(now)),
            State::Trying { .. } => Some(FIRST_REST),
        }
    }

    /// Leave to ask, or how long to wait.
    pub(super) fn enter(self: &Arc<Self>, now: Instant) -> Result<Permit, Duration> {
        let mut state = self.lock();
        match *state {
            State::Closed { .. } => {}
            State::Trying { .. } => return Err(FIRST_REST),
            State::Open { until, rest } => {
                let wait = until.saturating_duration_since(now);
                if !wait.is_zero() {
                    return Err(wait);
                }
                *state = State::Trying { rest };
            }
        }
        Ok(Permit { breaker: Arc::clone(self), settled: false })
    }

    /// A request failed, and the server said how long it wants to be left alone.
    fn fail(&self, now: Instant, wish: Option<Duration>) {
        let mut state = self.lock();
        let rest = match *state {
            State::Closed { failures } if failures + 1 < FAILURES && wish.is_none() => {
                *state = State::Closed { failures: failures + 1 };
                return;
            }
            State::Closed { .. } => FIRST_REST,
            State::Trying { rest } => (rest * 2).min(self.longest_rest),
            // A request from before the server was left alone.
            State::Open { .. } => return,
        };
        let until = now + wish.map_or(rest, |wish| wish.min(LONGEST_WISH));
        *state = State::Open { until, rest };
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leave for one request. Dropped without a word (the caller gave up), a trial
/// counts as failed and anything else as nothing.
#[must_use]
pub(super) struct Permit {
    breaker: Arc<Breaker>,
    settled: bool,
}

impl Permit {
    pub(super) fn succeeded(mut self) {
        self.settled = true;
        *self.breaker.lock() = State::default();
    }

    pub(super) fn failed(mut self, now: Instant, wish: Option<Duration>) {
        self.settled = true;
        self.breaker.fail(now, wish);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.settled && matches!(*self.breaker.lock(), State::Trying { .. }) {
            self.breaker.fail(Instant::now(), None);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const LONGEST_REST: Duration = Duration::from_secs(3);

    fn breaker() -> (Arc<Breaker>, Instant) {
        (Arc::new(Breaker::new(LONGEST_REST)), Instant::now())
    }

    fn fail(breaker: &Arc<Breaker>, times: u32, now: Instant) {
        for _ in 0..times {
            breaker.enter(now).unwrap().failed(now, None);
        }
    }

    #[test]
    fn a_server_that_keeps_failing_is_left_alone_and_then_tried_once() {
        let (breaker, start) = breaker();
        fail(&breaker, FAILURES, start);
        assert_eq!(breaker.enter(start).err(), Some(FIRST_REST));
        let later = start + FIRST_REST;
        assert_eq!(breaker.rest(later), Some(Duration::ZERO));
        let trial = breaker.enter(later).unwrap();
        assert!(breaker.enter(later).is_err(), "a second request while one is trying");
        trial.failed(later, None);
        assert_eq!(breaker.enter(later).err(), Some(LONGEST_REST), "doubled up to its bound");
        let back = later + LONGEST_REST;
        breaker.enter(back).unwrap().succeeded();
        assert_eq!(breaker.rest(back), None);
        fail(&breaker, FAILURES - 1, back);
        breaker.enter(back).unwrap().succeeded();
    }

    #[test]
    fn a_trial_that_is_given_up_does_not_block_the_next() {
        let (breaker, start) = breaker();
        fail(&breaker, FAILURES, start);
        drop(breaker.enter(start + FIRST_REST).unwrap());
        assert!(breaker.enter(start + LONGEST_REST * 2).is_ok());
    }

    #[test]
    fn a_server_that_says_how_long_is_left_alone_so_long_and_not_for_ever() {
        let (breaker, start) = breaker();
        let wish = Duration::from_secs(7);
        breaker.enter(start).unwrap().failed(start, Some(wish));
        assert_eq!(breaker.enter(start).err(), Some(wish));
        let later = start + wish;
        breaker.enter(later).unwrap().failed(later, Some(Duration::MAX));
        assert_eq!(breaker.enter(later).err(), Some(LONGEST_WISH));
    }
}
