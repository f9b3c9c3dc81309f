//! A circuit breaker: after several failures in a row the server gets a cooldown, then one trial
//! request checks whether it is back.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Consecutive failures that open the breaker. More than one, because a single slow response is not
/// an outage.
const FAILURES: u32 = 3;

/// First cooldown; doubles with each failed trial, up to the breaker's maximum.
const FIRST_COOLDOWN: Duration = Duration::from_secs(2);

/// Maximum cooldown that a server can request with `Retry-After`, so that it is never given up for
/// good.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

pub(super) struct Breaker {
    // Locked only briefly, never across an await.
    state: Mutex<State>,
    /// Maximum cooldown, which bounds how late a recovery is noticed.
    max_cooldown: Duration,
}

enum State {
    /// Requests pass; this many have failed in a row.
    Closed { failures: u32 },
    /// No request passes before `until`.
    Open { until: Instant, cooldown: Duration },
    /// A trial request is in flight.
    HalfOpen { cooldown: Duration },
}

impl Default for State {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    pub(super) fn new(max_cooldown: Duration) -> Self {
        Self { state: Mutex::default(), max_cooldown }
    }

    /// The remaining cooldown; zero when a trial is due.
    pub(super) fn cooldown(&self, now: Instant) -> Option<Duration> {
        match *self.lock() {
            State::Closed { .. } => None,
            State::Open { until, .. } => Some(until.saturating_duration_since(now)),
            State::HalfOpen { .. } => Some(FIRST_COOLDOWN),
        }
    }

    /// A permit for one request, or the remaining cooldown.
    pub(super) fn enter(self: &Arc<Self>, now: Instant) -> Result<Permit, Duration> {
        let mut state = self.lock();
        match *state {
            State::Closed { .. } => {}
            State::HalfOpen { .. } => return Err(FIRST_COOLDOWN),
            State::Open { until, cooldown } => {
                let wait = until.saturating_duration_since(now);
                if !wait.is_zero() {
                    return Err(wait);
                }
                *state = State::HalfOpen { cooldown };
            }
        }
        Ok(Permit { breaker: Arc::clone(self), settled: false })
    }

    /// Records a failure, with the cooldown that the server requested.
    fn fail(&self, now: Instant, retry_after: Option<Duration>) {
        let mut state = self.lock();
        let cooldown = match *state {
            State::Closed { failures } if failures + 1 < FAILURES && retry_after.is_none() => {
                *state = State::Closed { failures: failures + 1 };
                return;
            }
            State::Closed { .. } => FIRST_COOLDOWN,
            State::HalfOpen { cooldown } => (cooldown * 2).min(self.max_cooldown),
            // A request from before the breaker opened.
            State::Open { .. } => return,
        };
        let until =
            now + retry_after.map_or(cooldown, |retry_after| retry_after.min(MAX_RETRY_AFTER));
        *state = State::Open { until, cooldown };
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permit for one request. If it is dropped without a result (the caller gave up), a trial counts
/// as failed and any other request is ignored.
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

    pub(super) fn failed(mut self, now: Instant, retry_after: Option<Duration>) {
        self.settled = true;
        self.breaker.fail(now, retry_after);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.settled && matches!(*self.breaker.lock(), State::HalfOpen { .. }) {
            self.breaker.fail(Instant::now(), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_COOLDOWN: Duration = Duration::from_secs(3);

    fn breaker() -> (Arc<Breaker>, Instant) {
        (Arc::new(Breaker::new(MAX_COOLDOWN)), Instant::now())
    }

    fn fail(breaker: &Arc<Breaker>, times: u32, now: Instant) {
        for _ in 0..times {
            breaker.enter(now).unwrap().failed(now, None);
        }
    }

    #[test]
    fn a_failing_server_gets_a_cooldown_and_then_one_trial() {
        let (breaker, start) = breaker();
        fail(&breaker, FAILURES, start);
        assert_eq!(breaker.enter(start).err(), Some(FIRST_COOLDOWN));
        let later = start + FIRST_COOLDOWN;
        assert_eq!(breaker.cooldown(later), Some(Duration::ZERO));
        let trial = breaker.enter(later).unwrap();
        assert!(breaker.enter(later).is_err(), "a second request while one is trying");
        trial.failed(later, None);
        assert_eq!(breaker.enter(later).err(), Some(MAX_COOLDOWN), "doubled up to its bound");
        let back = later + MAX_COOLDOWN;
        breaker.enter(back).unwrap().succeeded();
        assert_eq!(breaker.cooldown(back), None);
        fail(&breaker, FAILURES - 1, back);
        breaker.enter(back).unwrap().succeeded();
    }

    #[test]
    fn a_cancelled_trial_does_not_block_the_next() {
        let (breaker, start) = breaker();
        fail(&breaker, FAILURES, start);
        drop(breaker.enter(start + FIRST_COOLDOWN).unwrap());
        assert!(breaker.enter(start + MAX_COOLDOWN * 2).is_ok());
    }

    #[test]
    fn retry_after_is_respected_up_to_a_maximum() {
        let (breaker, start) = breaker();
        let retry_after = Duration::from_secs(7);
        breaker.enter(start).unwrap().failed(start, Some(retry_after));
        assert_eq!(breaker.enter(start).err(), Some(retry_after));
        let later = start + retry_after;
        breaker.enter(later).unwrap().failed(later, Some(Duration::MAX));
        assert_eq!(breaker.enter(later).err(), Some(MAX_RETRY_AFTER));
    }
}
