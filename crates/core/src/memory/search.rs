//! Searches and lists of a store, and their results.

mod reader;

use std::sync::Arc;

use jiff::Timestamp;

pub use self::reader::{Reader, SharedScope};
use crate::memory::{Filter, Memory, MemoryId, MemoryType, Owner, Within};
use memgate_text::index::Lexical;

/// One haystack of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopeQuery {
    /// Whose memories.
    pub owner: Owner,
    /// The projects that are searched.
    pub projects: Within,
    /// The agents that are searched.
    pub agents: Within,
    /// Only memories of this session.
    pub session_id: Option<String>,
    /// Only these types; empty means all.
    pub types: Vec<String>,
    /// Whether a search looks at answers of the assistant, too, where no types are named. A list has them always.
    pub answers: bool,
}

impl ScopeQuery {
    /// Everything an owner has.
    #[must_use]
    pub fn of(owner: Owner) -> Self {
        Self {
            owner,
            projects: Within::All,
            agents: Within::All,
            session_id: None,
            types: Vec::new(),
            answers: false,
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

    /// Whether a search looks at memories of a type that lie in it.
    #[must_use]
    pub fn searches(&self, memory_type: &str) -> bool {
        self.answers
            || memory_type != MemoryType::ANSWER
            || self.types.iter().any(|name| name == memory_type)
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
        self.projects.holds(project)
            && self.agents.holds(agent)
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
    /// The memories that others share, to be searched as well.
    pub shared: Option<SharedScope>,
    /// A further condition.
    pub filter: Option<Filter>,
    /// Dense evidence.
    pub vector: Option<QueryVector>,
    /// Lexical evidence.
    pub text: Option<String>,
    /// The best this many by dense and the best this many by lexical evidence
    /// are returned, merged: at most twice as many; and as many of what others share.
    pub limit: usize,
    /// The time of asking: memories that have expired by then are left out, like superseded,
    /// quarantined and archived ones.
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
    /// A further condition. Without a status filter only active and review ones are listed.
    pub filter: Option<Filter>,
    /// At most this many.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<Cursor>,
    /// The time of asking: memories that have expired by then are left out.
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
