//! The effective settings of one request: the configuration and its policies.

use crate::{
    sections::{
        memory::MemoryConfig,
        placement::Placement,
        policy::{Policy, Subject},
    },
    zone::Zone,
};

/// The effective settings of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// Whether memory is used.
    pub enabled: bool,
    /// Whether turns are stored and learned from.
    pub auto_store: bool,
    /// Maximum number of presented memories.
    pub retrieval_limit: usize,
    /// Minimum calibrated relevance of a presented memory.
    pub similarity_threshold: f32,
    /// Restricts the search to these types; empty means all.
    pub memory_types: Vec<String>,
    /// Whether preferences and wishes about every answer are presented.
    pub standing: bool,
    /// Where the context is placed.
    pub placement: Placement,
    /// The project that a policy pins.
    pub project_id: Option<String>,
    /// The agent that a policy pins.
    pub agent_id: Option<String>,
    /// The time zone of users who name none.
    pub timezone: Zone,
}

impl MemoryConfig {
    /// The effective settings of a request: the defaults, then every matching policy in order.
    #[must_use]
    pub fn effective(&self, subject: &Subject<'_>) -> Effective {
        let mut effective = Effective {
            enabled: self.enabled,
            auto_store: self.auto_store,
            retrieval_limit: self.default_retrieval_limit,
            similarity_threshold: self.default_similarity_threshold,
            memory_types: Vec::new(),
            standing: true,
            placement: self.placement,
            project_id: None,
            agent_id: None,
            timezone: self.timezone.clone(),
        };
        for policy in self.policies.iter().filter(|policy| policy.matches.holds(subject)) {
            effective.apply(policy);
        }
        effective
    }
}

impl Effective {
    fn apply(&mut self, policy: &Policy) {
        self.enabled = policy.enabled.unwrap_or(self.enabled);
        self.auto_store = policy.auto_store.unwrap_or(self.auto_store);
        self.retrieval_limit = policy.retrieval_limit.unwrap_or(self.retrieval_limit);
        self.similarity_threshold =
            policy.similarity_threshold.unwrap_or(self.similarity_threshold);
        self.standing = policy.standing.unwrap_or(self.standing);
        self.placement = policy.placement.unwrap_or(self.placement);
        for (id, pinned) in
            [(&mut self.project_id, &policy.project_id), (&mut self.agent_id, &policy.agent_id)]
        {
            if pinned.is_some() {
                id.clone_from(pinned);
            }
        }
        if let Some(zone) = &policy.timezone {
            self.timezone.clone_from(zone);
        }
        if let Some(types) = &policy.memory_types {
            self.memory_types.clone_from(types);
        }
    }
}
