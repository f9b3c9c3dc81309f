//! What is asked of a store, and what it answers.

use std::sync::Arc;

use jiff::Timestamp;

use crate::memory::{Filter, Memory, MemoryId, Owner};
use memgate_text::index::Lexical;

/// One haystack of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopeQuery {
    /// Whose memories.
    pub owner: Owner,
    /// With a project: its memories and those of no project. Without: all.
    pub project_id: Option<String>,
    /// With an agent: its memories and those of no agent. Without: all.
    pub agent_id: Option<String>,
    /// Only what lies in exactly this project and agent; where none is named, what has none.
    pub exact: bool,
    /// Only those learnt in this session.
    pub session_id: Option<String>,
    /// Only these types; empty means all.
    pub types: Vec<String>,
}

impl ScopeQuery {
    /// Everything an owner has.
    #[must_use]
    pub fn of(owner: Owner) -> Self {
        Self {
            owner,
            project_id: None,
            agent_id: None,
            exact: false,
            session_id: None,
            types: Vec::new(),
        }
    }

    /// Whether a memory lies in this haystack.
    #[must_use]
    pub fn holds(&self, memory: &Memory) -> bool {
        memory.owner == self.owner
            && self.reaches(
                memory.memory_type.as_str(),
                memory.project_id.as_deref(),
                memory.agent_id.as_deref(),
                memory.session_id.as_deref(),
            )
    }

    /// Whether a memory of this haystack's owner with these members lies in it.
    #[must_use]
    pub fn reaches(
        &self,
        memory_type: &str,
        project: Option<&str>,
        agent: Option<&str>,
        session: Option<&str>,
    ) -> bool {
        let shared = |wanted: Option<&str>, has: Option<&str>| {
            wanted == has || (!self.exact && (wanted.is_none() || has.is_none()))
        };
        shared(self.project_id.as_deref(), project)
            && shared(self.agent_id.as_deref(), agent)
            && (self.session_id.is_none() || self.session_id.as_deref() == session)
            && (self.types.is_empty() || self.types.iter().any(|t| t == memory_type))
    }
}

/// The query's vector; only memories with a vector in the same space compare.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    /// The embedding space.
    pub space: Arc<str>,
    /// L2-normalised values.
    pub values: Arc<[f32]>,
}

/// A search. Without vector and text it lists the newest.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Where to look; the results are merged.
    pub scopes: Vec<ScopeQuery>,
    /// What must hold besides.
    pub filter: Option<Filter>,
    /// Dense evidence.
    pub vector: Option<QueryVector>,
    /// Lexical evidence.
    pub text: Option<String>,
    /// The best this many by dense and the best this many by lexical evidence
    /// are returned, merged: at most twice as many.
    pub limit: usize,
    /// What has expired by then, or is superseded, quarantined or archived, is left out.
    pub now: Timestamp,
}

/// A memory and why it may matter. Stores do not rank; recall does.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The memory.
    pub memory: Memory,
    /// The best cosine of its parts, where both sides have a vector.
    pub cosine: Option<f32>,
    /// The part that had it.
    pub part: Option<u16>,
    /// Lexical evidence, where the query had words.
    pub lexical: Option<Lexical>,
}

/// A page of an owner's memories, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ListQuery {
    /// Where to look.
    pub scope: ScopeQuery,
    /// What must hold besides. Without a status filter only active and review ones are listed.
    pub filter: Option<Filter>,
    /// At most this many.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<Cursor>,
    /// What has expired by then is left out.
    pub now: Timestamp,
}

/// Where a page ended: the order of lists is `(created_at, id)` descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The last memory's time.
    pub created_at: Timestamp,
    /// The last memory's id.
    pub id: MemoryId,
}

/// A page and where it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The memories.
    pub memories: Vec<Memory>,
    /// `None` when there is no more.
    pub next: Option<Cursor>,
}
