//! A circuit breaker: after a few failures in a row the server is left alone
//! for a while, then one request tries whether it is back.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Failures in a row until the server is left alone. Several, since one slow
/// answer is no outage.
const FAILURES: u32 = 3;

/// The first rest; doubles with each trial that fails, up to [`LONGEST_REST`].
const FIRST_REST: Duration = Duration::from_secs(2);

/// The longest rest: how late learning may notice that the server is back.
const LONGEST_REST: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct Breaker {
    // Held for a look only, never over an await.
    state: Mutex<State>,
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
    /// Leave to ask, or how long to wait.
    pub(super) fn enter(&self, now: Instant) -> Result<Permit<'_>, Duration> {
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
        Ok(Permit { breaker: self, settled: false })
    }

    fn fail(&self, now: Instant) {
        let mut state = self.lock();
        let rest = match *state {
            State::Closed { failures } if failures + 1 < FAILURES => {
                *state = State::Closed { failures: failures + 1 };
                return;
            }
            State::Closed { .. } => FIRST_REST,
            State::Trying { rest } => (rest * 2).min(LONGEST_REST),
            // A request from before the server was left alone.
            State::Open { .. } => return,
        };
        *state = State::Open { until: now + rest, rest };
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leave for one request. Dropped without a word (the caller gave up), a trial
/// counts as failed and anything else as nothing.
#[must_use]
pub(super) struct Permit<'a> {
    breaker: &'a Breaker,
    settled: bool,
}

impl Permit<'_> {
    pub(super) fn succeeded(mut self) {
        self.settled = true;
        *self.breaker.lock() = State::default();
    }

    pub(super) fn failed(mut self, now: Instant) {
        self.settled = true;
        self.breaker.fail(now);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.settled && matches!(*self.breaker.lock(), State::Trying { .. }) {
            self.breaker.fail(Instant::now());
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn fail(breaker: &Breaker, times: u32, now: Instant) {
        for _ in 0..times {
            breaker.enter(now).unwrap().failed(now);
        }
    }

    #[test]
    fn a_server_that_keeps_failing_is_left_alone_and_then_tried_once() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        fail(&breaker, FAILURES, start);
        assert_eq!(breaker.enter(start).err(), Some(FIRST_REST));
        let later = start + FIRST_REST;
        let trial = breaker.enter(later).unwrap();
        assert!(breaker.enter(later).is_err(), "a second request while one is trying");
        trial.failed(later);
        assert_eq!(breaker.enter(later).err(), Some(FIRST_REST * 2));
        let back = later + FIRST_REST * 2;
        breaker.enter(back).unwrap().succeeded();
        fail(&breaker, FAILURES - 1, back);
        breaker.enter(back).unwrap().succeeded();
    }

    #[test]
    fn a_trial_that_is_given_up_does_not_block_the_next() {
        let (breaker, start) = (Breaker::default(), Instant::now());
        fail(&breaker, FAILURES, start);
        drop(breaker.enter(start + FIRST_REST).unwrap());
        assert!(breaker.enter(start + LONGEST_REST * 2).is_ok());
    }
}
