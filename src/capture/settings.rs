//! What capture is configured to do, exchangeable while it runs.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use super::{journal::Rules, reconcile::Policy};
use crate::{llm::Helper, memory::MemoryType};

/// What is learnt, and when.
#[derive(Clone)]
pub struct Settings {
    /// Each turn becomes an episodic memory at once.
    pub store_turns: bool,
    /// The statements in each turn become memories at once.
    pub extract_locally: bool,
    /// Facts are extracted by this model; `None`: by none.
    pub extractor: Option<Arc<Helper>>,
    /// Turns between two extractions.
    pub extract_every: u32,
    /// When sessions end, and what becomes of them then.
    pub sessions: SessionRules,
    /// The least that candidates are rated.
    pub least: Least,
    /// How long the journal keeps what was learnt.
    pub retention: Retention,
    /// How long what a user asked to be forgotten is only hidden, and can be brought back; zero: it is
    /// erased at once.
    pub forget_grace: Duration,
    /// Which of two memories that contradict each other holds.
    pub policy: Policy,
    /// The types a memory may have.
    pub types: Vec<String>,
}

/// How long the journal keeps things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Turns, from their end; never less than until they are learnt.
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

/// When sessions end by themselves, and what becomes of them then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionRules {
    /// A session without a turn for this long has ended.
    pub idle_timeout: Duration,
    /// The same once its user has begun another session.
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

/// The least that an extractor may have rated what is kept; by default none is asked for. What it
/// did not rate is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Least {
    /// Importance, 0 to 1.
    pub importance: f32,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

impl Settings {
    fn rules(&self) -> Rules {
        Rules {
            store_turns: self.store_turns && self.allows(MemoryType::EPISODIC),
            extract_locally: self.extract_locally,
            extract_every: self.extractor.is_some().then_some(self.extract_every.max(1)),
            sessions: self.sessions,
        }
    }

    /// Whether a memory may have this type.
    pub(super) fn allows(&self, memory_type: &str) -> bool {
        self.types.iter().any(|allowed| allowed == memory_type)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("store_turns", &self.store_turns)
            .field("extract_locally", &self.extract_locally)
            .field("extractor", &self.extractor)
            .field("extract_every", &self.extract_every)
            .field("sessions", &self.sessions)
            .field("least", &self.least)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// The settings in force.
#[derive(Debug)]
pub(super) struct Live(RwLock<Arc<Settings>>);

impl Live {
    pub(super) fn new(settings: Settings) -> Self {
        Self(RwLock::new(Arc::new(settings)))
    }

    pub(super) fn get(&self) -> Arc<Settings> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, settings: Settings) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    pub(super) fn rules(&self) -> Rules {
        self.get().rules()
    }
}
