//! A request to recall: whose memories, in which conversation, how many, by which settings.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use tokio::time::Instant;

use crate::{
    settings::{QueryConfig, RankingConfig},
    trail::Trace,
};
use memgate_core::memory::{Evidence, Filter, Memory, Owner, ScopeQuery, Within};
use memgate_text::command::Subject;

/// A request for memories.
#[derive(Clone, Debug)]
pub struct RecallRequest<'a> {
    /// Whose memories.
    pub owner: &'a Owner,
    /// The projects that are searched.
    pub projects: &'a Within,
    /// The agents that are searched.
    pub agents: &'a Within,
    /// The user's earlier messages in the conversation, oldest first. The model sees them anyway, so memories that
    /// repeat them are left out.
    pub earlier: &'a [&'a str],
    /// Which hits are presented.
    pub selection: &'a Selection,
    /// How memories are searched, ordered and written.
    pub settings: RecallSettings<'a>,
    /// A condition that every memory must meet.
    pub filter: Option<Filter>,
    /// Subjects that the user asked to forget. Memories about them are not presented, even before
    /// they are deleted.
    pub forgotten: &'a [Subject],
    /// The time of asking.
    pub now: Timestamp,
    /// The user's time zone: days are counted and shown in it.
    pub zone: TimeZone,
    /// The end of the time for recall. Only a model that helps may extend it.
    pub deadline: Instant,
    /// Where the stages note what they do, and why; none where nobody will ask.
    pub trace: Option<&'a Trace>,
}

/// Which hits are presented.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// At most this many hits.
    pub limit: usize,
    /// Minimum relevance.
    pub threshold: f32,
    /// Accepted types; empty means all.
    pub types: Vec<String>,
}

/// The settings that apply to a request.
#[derive(Clone, Copy, Debug)]
pub struct RecallSettings<'a> {
    /// Settings of the query.
    pub query: &'a QueryConfig,
    /// Settings of the order of hits.
    pub ranking: &'a RankingConfig,
    /// The types of memory that exist: a model may name these.
    pub types: &'a [String],
    /// How long the context may be.
    pub budget: Budget,
}

/// How long a context may be, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of the fence and of the hits; 64 or more.
    pub context: usize,
    /// Tokens of the preferences, besides; 0: none of them.
    pub preferences: usize,
}

impl RecallRequest<'_> {
    /// The memories that a store is asked for.
    pub(super) fn scope(&self) -> ScopeQuery {
        ScopeQuery {
            projects: self.projects.clone(),
            agents: self.agents.clone(),
            types: self.selection.types.clone(),
            ..ScopeQuery::of(self.owner.clone())
        }
    }

    /// The day of asking.
    pub(super) fn today(&self) -> Date {
        self.now.to_zoned(self.zone.clone()).date()
    }

    /// The user's own memories among those that a store found: a second look, outside the store, because a mistake in a
    /// query language must not become somebody else's memory.
    pub(super) fn own(&self, evidence: Vec<Evidence>) -> Vec<Evidence> {
        let found = evidence.len();
        let own: Vec<_> =
            evidence.into_iter().filter(|it| it.memory.owner == *self.owner).collect();
        if own.len() != found {
            tracing::error!(rows = found - own.len(), "the store returned rows of another owner");
        }
        own
    }

    /// Whether the user asked to forget a memory that is not yet deleted.
    pub(super) fn forgets(&self, memory: &Memory) -> bool {
        let texts = || memory.sides().chain(memory.raw.as_deref());
        self.forgotten.iter().any(|it| texts().any(|text| !it.said_in(text).is_empty()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::LazyLock;
    use std::time::Duration;

    use super::*;

    static SETTINGS: LazyLock<(QueryConfig, RankingConfig)> = LazyLock::new(Default::default);

    /// A request with default settings and more time than a test needs.
    pub(crate) fn request<'a>(
        owner: &'a Owner,
        selection: &'a Selection,
        now: Timestamp,
    ) -> RecallRequest<'a> {
        let (query, ranking) = &*SETTINGS;
        let budget = Budget { context: 512, preferences: 64 };
        RecallRequest {
            owner,
            projects: &Within::All,
            agents: &Within::All,
            earlier: &[],
            selection,
            settings: RecallSettings { query, ranking, types: &[], budget },
            filter: None,
            forgotten: &[],
            now,
            zone: TimeZone::UTC,
            deadline: Instant::now() + Duration::from_secs(60),
            trace: None,
        }
    }
}
