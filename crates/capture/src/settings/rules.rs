//! The settings of the journal: which jobs a turn owes, when a session ends, and how long turns are kept.

use std::time::Duration;

use jiff::Timestamp;

/// Rules by which a turn owes jobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Each turn becomes a memory of its own.
    pub(crate) store_turns: bool,
    /// The statements in each turn become memories.
    pub(crate) extract_locally: bool,
    /// Turns between two extractions of facts; `None`: facts are not extracted.
    pub(crate) extract_every: Option<u32>,
    /// When sessions end.
    pub(crate) sessions: SessionRules,
}

impl Rules {
    /// When a session is idle that was last active at `active`, in milliseconds.
    pub(crate) fn idle_at(&self, active: i64) -> Timestamp {
        after(active, self.sessions.idle_timeout)
    }

    /// When a session that was left for a newer one is idle.
    pub(crate) fn quiet_at(&self, active: i64) -> Timestamp {
        after(active, self.sessions.quiet_after.min(self.sessions.idle_timeout))
    }
}

/// The time this long after a time in milliseconds.
fn after(active: i64, pause: Duration) -> Timestamp {
    let active = Timestamp::from_millisecond(active).unwrap_or(Timestamp::MAX);
    active.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// How long the journal keeps things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Turns, from their end; but always until they are learned.
    pub turns: Duration,
    /// Dead jobs, from their last try.
    pub dead_jobs: Duration,
}

impl Default for Retention {
    /// Thirty days, as the configuration has it.
    fn default() -> Self {
        let month = Duration::from_secs(30 * 24 * 3600);
        Self { turns: month, dead_jobs: month }
    }
}

/// Limits of the memory of sessions without a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnonymousBounds {
    /// Time for which it is kept after the last turn.
    pub ttl: Duration,
    /// Maximum number of memories of one session; the oldest are removed.
    pub memories: usize,
    /// Maximum number of sessions; those that were quiet the longest are erased.
    pub sessions: u32,
}

impl Default for AnonymousBounds {
    /// As the configuration's defaults.
    fn default() -> Self {
        Self { ttl: Duration::from_secs(3600), memories: 100, sessions: 10_000 }
    }
}

/// When sessions end by themselves, and what becomes of them then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionRules {
    /// A session without a turn for this long has ended.
    pub idle_timeout: Duration,
    /// Idle time of a session once its user has begun another one.
    pub quiet_after: Duration,
    /// A session that has ended is summed up.
    pub summaries: bool,
    /// A turn this far from its session is about something else; `None`: never.
    pub drift_threshold: Option<f32>,
}

impl Default for SessionRules {
    /// As the configuration's defaults.
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(1800),
            quiet_after: Duration::from_secs(60),
            summaries: true,
            drift_threshold: Some(0.8),
        }
    }
}

/// Which of two memories that contradict each other holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The one that was said later.
    #[default]
    PreferNew,
    /// The one that is stored already.
    PreferOld,
    /// Both, with the status `review`, until somebody decides.
    Review,
}
