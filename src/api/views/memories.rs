//! Memories, pages and hits as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::cursor;
use memgate_core::memory::{Memory, Owner, Page, Source, Space, Status, Visibility};
use memgate_recall::{Hit, HitScope, ScoreBreakdown};
use memgate_text::entity::{EntityRelation, Mention};

/// A memory as callers see it, without internal fields.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MemoryView {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub memory_type: String,
    /// Sub-type within the type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_type: Option<String>,
    /// The remembered text.
    pub content: String,
    /// The user's id; absent for what an agent or the organisation knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// `organisation`, `agent:` and the agent's id, or `session:` and its id, where it is no user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The tenant, unless it is the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// The session it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its source.
    #[schema(schema_with = crate::api::read::schemas::source)]
    pub source: Source,
    /// Its status.
    #[schema(schema_with = crate::api::read::schemas::status)]
    pub status: Status,
    /// The others who may read it.
    #[schema(schema_with = crate::api::read::schemas::visibility)]
    pub visibility: Visibility,
    /// Importance, 0 to 1.
    pub importance: f32,
    /// Confidence, 0 to 1; null if unknown.
    pub confidence: Option<f32>,
    /// Tags.
    pub tags: Vec<String>,
    /// Custom metadata.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// Entities that it mentions, if known.
    #[schema(schema_with = crate::api::read::schemas::mentions)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Relations between these entities, if known.
    #[schema(schema_with = crate::api::read::schemas::entity_relations)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entity_relations: Vec<EntityRelation>,
    /// Version, starting at 1.
    pub version: u32,
    /// How often it was presented.
    pub access_count: u64,
    /// When its first version was written.
    pub created_at: Timestamp,
    /// When this version was written.
    pub updated_at: Timestamp,
    /// When it was last presented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// Start of its validity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of its validity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

impl From<Memory> for MemoryView {
    fn from(memory: Memory) -> Self {
        let (tenant, text) = (memory.owner.tenant(), memory.text().into_owned());
        Self {
            id: memory.id.to_string(),
            memory_type: memory.memory_type.to_string(),
            sub_type: memory.sub_type,
            content: text,
            user_id: memory.owner.user().map(str::to_owned),
            space: space(&memory.owner),
            project_id: memory.project_id,
            agent_id: memory.agent_id,
            tenant_id: (tenant != Owner::DEFAULT_TENANT).then(|| tenant.to_owned()),
            session_id: memory.session_id,
            source: memory.source,
            status: memory.status,
            visibility: memory.visibility,
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

/// The name of an owner that is no user.
pub(in crate::api) fn space(owner: &Owner) -> Option<String> {
    match owner.space() {
        Space::User(_) => None,
        Space::Organisation => Some("organisation".to_owned()),
        Space::Agent(agent) => Some(format!("agent:{agent}")),
        Space::Session(session) => Some(format!("session:{session}")),
    }
}

/// A page of memories, newest first.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MemoriesView {
    /// The memories.
    pub memories: Vec<MemoryView>,
    /// Cursor of the next page; null on the last page.
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

/// A number of memories.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CountView {
    /// The number.
    pub count: u64,
}

/// Result of a deletion.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeletedView {
    /// Number of deleted memories; with `dry_run`, of those that would be deleted.
    pub deleted: u64,
    /// Whether the memories were only counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl DeletedView {
    pub(in crate::api) fn of(deleted: u64) -> Self {
        Self { deleted, dry_run: false }
    }
}

/// Result of a search.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HitsView {
    /// The hits, best first; without a query the newest first.
    pub hits: Vec<HitView>,
}

/// A memory found by a search.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HitView {
    /// The memory.
    pub memory: MemoryView,
    /// Its scope for the user: `user`, `session`, `agent`, `organisation` or `shared`.
    pub scope: String,
    /// Calibrated relevance, 0 to 1; null without a query.
    pub score: Option<f32>,
    /// The score breakdown, if it was requested.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<ScoreBreakdown>,
}

impl HitView {
    pub(in crate::api) fn of(hit: Hit, explain: bool) -> Self {
        let parts = explain.then_some(hit.breakdown);
        let scope = <&str>::from(hit.scope).to_owned();
        Self { memory: hit.memory.into(), scope, score: Some(hit.score), parts }
    }

    /// A memory of the user that was found without a query.
    pub(in crate::api) fn without_query(memory: Memory) -> Self {
        let scope = <&str>::from(HitScope::of(&memory, &memory.owner, None)).to_owned();
        Self { memory: memory.into(), scope, score: None, parts: None }
    }
}
