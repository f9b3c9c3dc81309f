//! A request to recall: whose memories, in which conversation, how many, by which settings.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use tokio::time::Instant;

use crate::{
    hit::HitScope,
    settings::{QueryConfig, RankingConfig, ScopesConfig},
    text::view,
    trail::Trace,
};
use memgate_core::memory::{
    Evidence, Filter, Memory, Owner, Reader, ScopeQuery, SharedScope, Within,
};
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
    /// The session that asks, where it has a name.
    pub session: Option<&'a str>,
    /// The reader of what others share; none where that is not searched.
    pub reader: Option<&'a Reader>,
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
    /// Settings of the scopes: which are searched, and the limit of each.
    pub scopes: &'a ScopesConfig,
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
    /// Tokens of the preferences and of the wishes about every answer, besides; 0: none of them.
    pub standing: usize,
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

    /// The haystack of what others share, where it is searched.
    pub(super) fn shared(&self) -> Option<SharedScope> {
        let reader = self.reader.filter(|_| self.settings.scopes.shared)?.clone();
        let types = self.selection.types.clone();
        Some(SharedScope { reader, projects: self.projects.clone(), types })
    }

    /// The scope of a memory, as a request sees it.
    pub(super) fn scope_of(&self, memory: &Memory) -> HitScope {
        HitScope::of(memory, self.owner, self.session)
    }

    /// The day of asking.
    pub(super) fn today(&self) -> Date {
        self.now.to_zoned(self.zone.clone()).date()
    }

    /// Whether a memory lies where the request may look: among the user's own, or in what others share.
    pub(super) fn may_see(&self, memory: &Memory) -> bool {
        self.scope().holds(memory) || self.shared().is_some_and(|shared| shared.holds(memory))
    }

    /// The memories that the request may see among those that a store found: a second look, outside the store, because a
    /// mistake in a query language must not become somebody else's memory.
    pub(super) fn visible(&self, evidence: Vec<Evidence>) -> Vec<Evidence> {
        let found = evidence.len();
        let visible: Vec<_> = evidence.into_iter().filter(|it| self.may_see(&it.memory)).collect();
        if visible.len() != found {
            let rows = found - visible.len();
            tracing::error!(rows, "the store returned rows that the request may not see");
        }
        visible
    }

    /// Whether the user asked to forget a memory that is not yet deleted, by the part of it that could be shown.
    pub(super) fn forgets(&self, memory: &Memory) -> bool {
        let texts = || memory.sides().chain(memory.raw.as_deref());
        self.forgotten
            .iter()
            .any(|it| texts().any(|text| !it.said_in(view::showable(text)).is_empty()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::LazyLock;
    use std::time::Duration;

    use super::*;
    use memgate_core::memory::{MemoryId, MemoryType, Source, Visibility};

    static SETTINGS: LazyLock<(QueryConfig, RankingConfig, ScopesConfig)> =
        LazyLock::new(Default::default);

    /// A request with default settings and more time than a test needs.
    pub(crate) fn request<'a>(
        owner: &'a Owner,
        selection: &'a Selection,
        now: Timestamp,
    ) -> RecallRequest<'a> {
        let (query, ranking, scopes) = &*SETTINGS;
        let budget = Budget { context: 512, standing: 96 };
        RecallRequest {
            owner,
            projects: &Within::All,
            agents: &Within::All,
            session: None,
            reader: None,
            earlier: &[],
            selection,
            settings: RecallSettings { query, ranking, scopes, types: &[], budget },
            filter: None,
            forgotten: &[],
            now,
            zone: TimeZone::UTC,
            deadline: Instant::now() + Duration::from_secs(60),
            trace: None,
        }
    }

    #[test]
    fn a_row_that_the_request_may_not_see_is_withheld_whatever_the_store_returns() {
        let own = Owner::new("t", "alice").unwrap();
        let bob = Owner::new("t", "bob").unwrap();
        let evidence = |owner: &Owner, content: &str, change: fn(&mut Memory)| {
            let (id, kind) = (MemoryId::fresh(), MemoryType::new(MemoryType::SEMANTIC));
            let source = Source::ExternalData;
            let at = Timestamp::UNIX_EPOCH;
            let mut memory = Memory::new(id, owner.clone(), kind, content, source, at);
            change(&mut memory);
            Evidence { memory, cosine: None, part: None, lexical: None }
        };
        let public = |memory: &mut Memory| memory.visibility = Visibility::Public;
        let rows = || {
            vec![
                evidence(&own, "own", |_| {}),
                evidence(&own, "own of a project", |it| it.project_id = Some("p".into())),
                evidence(&own, "own of an agent", |it| it.agent_id = Some("coach".into())),
                evidence(&own, "own of a type", |it| {
                    it.memory_type = MemoryType::new(MemoryType::EPISODIC);
                }),
                evidence(&bob, "private", |_| {}),
                evidence(&bob, "public", public),
                evidence(&bob, "public of an agent", |it| {
                    it.visibility = Visibility::Public;
                    it.agent_id = Some("coach".into());
                }),
                evidence(&bob, "public of a project", |it| {
                    it.visibility = Visibility::Public;
                    it.project_id = Some("p".into());
                }),
                evidence(&bob, "public of a type", |it| {
                    it.visibility = Visibility::Public;
                    it.memory_type = MemoryType::new(MemoryType::EPISODIC);
                }),
                evidence(&Owner::agent("t", "coach").unwrap(), "an agent's", public),
                evidence(&Owner::session("t", "s").unwrap(), "a session's", public),
                evidence(&Owner::new("u", "alice").unwrap(), "of another tenant", public),
            ]
        };
        let types = vec![MemoryType::SEMANTIC.to_owned()];
        let selection = Selection { limit: 5, threshold: 0.6, types };
        let reader = Reader { owner: own.clone(), roles: Vec::new(), agent: None };
        let on = ScopesConfig { shared: true, ..ScopesConfig::default() };
        let off = ScopesConfig::default();
        for (reader, scopes, expected) in [
            (None, &on, &["own"][..]),
            (Some(&reader), &off, &["own"]),
            (Some(&reader), &on, &["own", "public"]),
        ] {
            let mut request = request(&own, &selection, Timestamp::UNIX_EPOCH);
            (request.reader, request.settings.scopes) = (reader, scopes);
            (request.projects, request.agents) = (&Within::None, &Within::None);
            let seen = request.visible(rows());
            let seen: Vec<&str> = seen.iter().map(|found| &*found.memory.content).collect();
            assert_eq!(seen, expected);
        }
    }
}
