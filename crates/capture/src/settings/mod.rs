//! The settings of capture, exchangeable while it runs.

mod rules;

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use memgate_core::memory::MemoryType;
use memgate_embed::llm::Helper;
use memgate_screening::Screener;

pub(crate) use rules::Rules;
pub use rules::{AnonymousBounds, Policy, Retention, SessionRules};

/// Settings of learning.
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
    /// Limits of the memory of sessions without a user; read when capture is opened.
    pub anonymous: AnonymousBounds,
    /// The least that candidates are rated.
    pub least: Least,
    /// How long the journal keeps what was learnt.
    pub retention: Retention,
    /// How long memories that a user asked to be forgotten are hidden, and can be restored, before they
    /// are erased. Zero erases them at once.
    pub forget_grace: Duration,
    /// Which of two memories that contradict each other holds.
    pub policy: Policy,
    /// The types a memory may have.
    pub types: Vec<String>,
    /// Removes secrets and personal data.
    pub screener: Screener,
    /// Whether the journal keeps what tools were given and what they answered.
    pub tool_contents: bool,
}

/// The least that an extractor may have rated what is kept; by default none is asked for. An unrated
/// candidate is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Least {
    /// Importance, 0 to 1.
    pub importance: f32,
    /// Confidence, 0 to 1.
    pub confidence: f32,
}

impl Default for Settings {
    /// Turns are stored, nothing is extracted, and what is to be forgotten is erased at once.
    fn default() -> Self {
        Self {
            store_turns: true,
            extract_locally: false,
            extractor: None,
            extract_every: 10,
            sessions: SessionRules::default(),
            anonymous: AnonymousBounds::default(),
            least: Least::default(),
            retention: Retention::default(),
            forget_grace: Duration::ZERO,
            policy: Policy::default(),
            types: MemoryType::BUILT_IN.map(str::to_owned).to_vec(),
            screener: Screener::default(),
            tool_contents: false,
        }
    }
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
    pub(crate) fn allows(&self, memory_type: &str) -> bool {
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
pub(crate) struct Live(RwLock<Arc<Settings>>);

impl Live {
    pub(crate) fn new(settings: Settings) -> Self {
        Self(RwLock::new(Arc::new(settings)))
    }

    pub(crate) fn get(&self) -> Arc<Settings> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, settings: Settings) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    pub(crate) fn rules(&self) -> Rules {
        self.get().rules()
    }
}
