//! A whole memory as JSON: what it was made of, its embedding spaces, and its history.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::MemoryView;
use memgate_core::memory::{Memory, MemoryKind, Occurrence, Relation, Visibility};

/// A memory with all that is known of it.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecordView {
    /// Its main members.
    #[serde(flatten)]
    pub memory: MemoryView,
    /// Its kind.
    #[schema(schema_with = crate::api::read::schemas::kind)]
    pub kind: MemoryKind,
    /// The assistant's side of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The user's own words, where the content is a rewording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// A machine-readable form of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// When the event in its content happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Timestamp>,
    /// When it leaves every read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Who else may read it: `kind` is `private`, `shared` (with `users` and `roles`) or `public`.
    #[schema(value_type = Object)]
    pub visibility: Visibility,
    /// Links to other memories of the user.
    #[schema(schema_with = crate::api::read::schemas::relations)]
    pub relations: Vec<Relation>,
    /// Its origin.
    pub provenance: ProvenanceView,
    /// The embedding spaces in which it has a vector.
    pub spaces: Vec<String>,
}

/// The origin of a memory.
#[derive(Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProvenanceView {
    /// The extractor that made it; absent for a memory from the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor: Option<String>,
    /// The extractor's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor_version: Option<String>,
    /// The turns that said it, the first one first.
    pub turns: Vec<SaidView>,
}

/// A turn that said the content of a memory.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SaidView {
    /// The turn's id.
    pub id: String,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The extractor that found it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor: Option<String>,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// The user's words; absent once the journal does not hold the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The assistant's words; absent once the journal does not hold the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant: Option<String>,
}

impl From<Occurrence> for SaidView {
    fn from(said: Occurrence) -> Self {
        Self {
            id: said.turn,
            session_id: said.session,
            extractor: said.extractor,
            said_at: said.said_at,
            user: None,
            assistant: None,
        }
    }
}

impl RecordView {
    pub(in crate::api) fn of(memory: Memory, turns: Vec<SaidView>, spaces: Vec<String>) -> Self {
        Self {
            kind: memory.kind,
            reply: memory.reply.clone(),
            raw: memory.raw.clone(),
            structured: memory.structured.clone(),
            event_time: memory.event_time,
            expires_at: memory.expires_at,
            visibility: memory.visibility.clone(),
            relations: memory.relations.clone(),
            provenance: ProvenanceView {
                extractor: memory.provenance.extractor.clone(),
                extractor_version: memory.provenance.extractor_version.clone(),
                turns,
            },
            spaces,
            memory: memory.into(),
        }
    }
}

/// The history of a memory.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HistoryView {
    /// The versions, the newest first; at most the newest 100.
    pub versions: Vec<VersionView>,
}

/// A version of a memory.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct VersionView {
    /// The memory in this version.
    pub memory: MemoryView,
    /// The differences from the version before; empty for the first one.
    pub changes: Vec<ChangeView>,
}

/// A member that a version changed.
#[derive(Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ChangeView {
    /// The member's name.
    pub member: String,
    /// Its value in the version before; null if it had none.
    pub from: Value,
    /// Its value in this version; null if it has none.
    pub to: Value,
}
