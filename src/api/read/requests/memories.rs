//! The requests about memories.

use jiff::Timestamp;
use memgate_located::flattened;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::read::requests::common::{Paging, Whose, or_default, present};
use memgate_core::memory::{Filter, Source, Status, Visibility};
use memgate_text::entity::{EntityRelation, Mention};

flattened! {
    /// `GET /v1/memory`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ListRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's memories.
        pub filter: ListFilter,
        /// The page.
        pub paging: Paging,
    }
}

/// Which memories of a user are meant: those that meet every condition.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListFilter {
    /// Only memories of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Only memories of this type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<String>,
    /// Only memories with this status. Default: those in use; a deletion covers every status.
    #[param(schema_with = crate::api::read::schemas::status)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Only memories that mention this person or thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// A filter (docs/filters.md), as JSON.
    #[param(value_type = Option<String>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
}

flattened! {
    /// `GET /v1/memory/count`.
    #[derive(Clone, Debug, Serialize)]
    pub struct CountRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's memories.
        pub filter: ListFilter,
    }
}

flattened! {
    /// `DELETE /v1/memory`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ForgetRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's memories. Default: all of them.
        pub filter: ListFilter,
        /// How.
        pub options: ForgetOptions,
    }
}

/// How a [`ForgetRequest`] deletes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ForgetOptions {
    /// Whether the memories are only counted.
    #[serde(default)]
    pub dry_run: bool,
}

flattened! {
    /// `POST /v1/memory`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct CreateRequest {
        /// The user.
        pub whose: Whose,
        /// The memory.
        pub memory: NewMemory,
    }
}

/// The memory of a [`CreateRequest`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NewMemory {
    /// The text to remember.
    pub content: String,
    /// One of the configured types. Default: `semantic`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<String>,
    /// The project it belongs to. Default: none, found in every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The agent it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its source. Default: `external_data`.
    #[schema(schema_with = crate::api::read::schemas::source)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The others who may read it. Default: nobody; memories of an agent or the organisation are public.
    #[schema(schema_with = crate::api::read::schemas::visibility)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Importance, 0 to 1. Default: 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// Confidence, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Whether a content that gives orders to the model is stored as a quotation (`kind`) rather than refused. Default:
    /// false.
    #[serde(default, deserialize_with = "or_default")]
    pub admit_quoted: bool,
    /// Tags.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Custom metadata.
    #[schema(value_type = Object)]
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Entities that it mentions.
    #[schema(schema_with = crate::api::read::schemas::mentions)]
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Relations between these entities.
    #[schema(schema_with = crate::api::read::schemas::entity_relations)]
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub entity_relations: Vec<EntityRelation>,
    /// Start of its validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of its validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

flattened! {
    /// `PATCH /v1/memory/{id}`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ChangeRequest {
        /// The user.
        pub whose: Whose,
        /// The change.
        pub change: PatchRequest,
    }
}

/// `PATCH /v1/memory/{id}`: absent members stay unchanged, `null` clears optional ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PatchRequest {
    /// The version that the caller has read. Default: any version.
    pub version: Option<u32>,
    /// The text to remember.
    pub content: Option<String>,
    /// One of the configured types.
    #[serde(rename = "type")]
    pub memory_type: Option<String>,
    /// The project.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Option<String>>,
    /// The status.
    #[schema(schema_with = crate::api::read::schemas::status)]
    pub status: Option<Status>,
    /// The others who may read it.
    #[schema(schema_with = crate::api::read::schemas::visibility)]
    pub visibility: Option<Visibility>,
    /// Importance, 0 to 1.
    pub importance: Option<f32>,
    /// Confidence, 0 to 1.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Option<f32>>,
    /// Replaces all tags.
    pub tags: Option<Vec<String>>,
    /// Replaces all metadata.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    /// Replaces all mentions. If absent and the content changes, mentions that it still contains
    /// are kept.
    #[schema(schema_with = crate::api::read::schemas::mentions)]
    pub mentions: Option<Vec<Mention>>,
    /// Replaces all relations. If absent, as with `mentions`.
    #[schema(schema_with = crate::api::read::schemas::entity_relations)]
    pub entity_relations: Option<Vec<EntityRelation>>,
    /// Start of its validity.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Option<Timestamp>>,
    /// End of its validity.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Option<Timestamp>>,
}

flattened! {
    /// `POST /v1/memory/search`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct SearchRequest {
        /// The user.
        pub whose: Whose,
        /// The query.
        pub search: SearchTerms,
    }
}

/// The search of a [`SearchRequest`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SearchTerms {
    /// The search query. Default: none; then the newest memories are the hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// A project: finds its memories and those without a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Maximum number of hits, 1 to 50. Default: from the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Minimum relevance, 0 to 1; only with a query. Default: from the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Only memories of these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// A filter (docs/filters.md).
    #[schema(value_type = Option<Object>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Only memories about this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only memories about an earlier time; must be after `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether hits include a score breakdown.
    #[serde(default, deserialize_with = "or_default")]
    pub explain: bool,
}
