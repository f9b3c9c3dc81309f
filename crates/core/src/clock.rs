//! The clock: the one place that reads the time of day. Deadlines and pauses are measured with
//! `Instant` and do not come from here.

use jiff::Timestamp;
use tokio::sync::watch;

/// A source of the current time. Clones show the same time.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's time.
    #[default]
    System,
    /// The time of a [`SettableTime`]; it stands still until it is set again.
    Settable(watch::Receiver<Timestamp>),
}

/// Sets the time of a clock, for tests and for evaluations that replay conversations at their own
/// dates.
#[derive(Debug)]
pub struct SettableTime(watch::Sender<Timestamp>);

impl Clock {
    /// A clock that shows `time` until another time is set.
    #[must_use]
    pub fn settable(time: Timestamp) -> (SettableTime, Self) {
        let (sender, receiver) = watch::channel(time);
        (SettableTime(sender), Self::Settable(receiver))
    }

    /// The current time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the clock is the one place that reads it")]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp::now(),
            Self::Settable(time) => *time.borrow(),
        }
    }

    /// Waits until another time is set. Never ends for the machine's time, nor once nobody can set
    /// the time any more.
    pub async fn changed(&mut self) {
        let changed = match self {
            Self::System => false,
            Self::Settable(time) => time.changed().await.is_ok(),
        };
        if !changed {
            std::future::pending().await
        }
    }
}

impl SettableTime {
    /// Sets the time of all clones of the clock. It may go back.
    pub fn set(&self, time: Timestamp) {
        self.0.send_replace(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_settable_clock_show_the_time_that_was_set_last() {
        let (time, clock) = Clock::settable(Timestamp::UNIX_EPOCH);
        let other = clock.clone();
        assert_eq!(other.now(), Timestamp::UNIX_EPOCH);
        time.set(Timestamp::MAX);
        assert_eq!((clock.now(), other.now()), (Timestamp::MAX, Timestamp::MAX));
    }
}
