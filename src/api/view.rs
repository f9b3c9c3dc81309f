//! What callers see: memories, pages, hits and counts as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cursor;
use crate::{
    memory::{EntityRelation, Memory, Mention, Owner, Page, Source, Status},
    recall::{Hit, ScoreBreakdown},
};

/// A memory as callers see it. What only memgate itself works with is left out.
#[derive(Debug, Serialize, Deserialize)]
pub struct MemoryView {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub memory_type: String,
    /// A finer kind within the type, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_type: Option<String>,
    /// What is remembered.
    pub content: String,
    /// Whose.
    pub user_id: String,
    /// Its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The tenant, where it is not the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// The session it was learnt in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// Whether it may be presented.
    pub status: Status,
    /// How much it matters, 0 to 1.
    pub importance: f32,
    /// How sure it is, 0 to 1; null when nobody knows.
    pub confidence: Option<f32>,
    /// Free labels.
    pub tags: Vec<String>,
    /// Free members.
    pub metadata: Map<String, Value>,
    /// Who and what it speaks of, where known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// How these stand to one another, where known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entity_relations: Vec<EntityRelation>,
    /// 1 when new; each update adds one.
    pub version: u32,
    /// How often it was presented.
    pub access_count: u64,
    /// When the first version was written.
    pub created_at: Timestamp,
    /// When this version was written.
    pub updated_at: Timestamp,
    /// When it was last presented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// True from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// True until.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

impl From<Memory> for MemoryView {
    fn from(memory: Memory) -> Self {
        let tenant = memory.owner.tenant();
        Self {
            id: memory.id.to_string(),
            memory_type: memory.memory_type.to_string(),
            sub_type: memory.sub_type,
            content: memory.content,
            user_id: memory.owner.user().to_owned(),
            project_id: memory.project_id,
            agent_id: memory.agent_id,
            tenant_id: (tenant != Owner::DEFAULT_TENANT).then(|| tenant.to_owned()),
            session_id: memory.session_id,
            source: memory.source,
            status: memory.status,
            importance: memory.importance,
            confidence: memory.confidence,
            tags: memory.tags,
            metadata: memory.metadata,
            mentions: memory.mentions,
            entity_relations: memory.entity_relations,
            version: memory.version,
            access_count: memory.access_count,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            last_accessed_at: memory.last_accessed_at,
            valid_from: memory.valid_from,
            valid_until: memory.valid_until,
        }
    }
}

/// A page of memories, newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct MemoriesView {
    /// The memories.
    pub memories: Vec<MemoryView>,
    /// What to ask the next page with; null when there is no more.
    pub next_cursor: Option<String>,
}

impl From<Page> for MemoriesView {
    fn from(page: Page) -> Self {
        Self {
            memories: page.memories.into_iter().map(MemoryView::from).collect(),
            next_cursor: page.next.as_ref().map(cursor::encode),
        }
    }
}

/// How much was forgotten.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedView {
    /// So many memories.
    pub deleted: u64,
}

/// What a search found.
#[derive(Debug, Serialize, Deserialize)]
pub struct HitsView {
    /// Best first.
    pub hits: Vec<HitView>,
}

/// A memory that was found.
#[derive(Debug, Serialize, Deserialize)]
pub struct HitView {
    /// The memory.
    pub memory: MemoryView,
    /// Calibrated relevance, 0 to 1.
    pub score: f32,
    /// The parts of the score, where the caller asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<ScoreBreakdown>,
}

impl HitView {
    pub(super) fn of(hit: Hit, explain: bool) -> Self {
        let parts = explain.then_some(hit.breakdown);
        Self { memory: hit.memory.into(), score: hit.score, parts }
    }
}

/// What a flush did.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlushedView {
    /// Sessions that were open.
    pub sessions_ended: u64,
    /// Jobs that ran well.
    pub jobs_done: u64,
    /// Jobs still to run: the time was over.
    pub jobs_pending: u64,
    /// Jobs given up.
    pub jobs_dead: u64,
}

/// A session that ended.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedView {
    /// Its turns.
    pub turns: u64,
}
