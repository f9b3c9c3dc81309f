//! The requests of the API, as JSON or query. Unknown members are refused: a misspelt `project_id`
//! must not turn "forget this project" into "forget everything".

use jiff::Timestamp;
use memgate_located::flattened;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::api::ApiError;
use memgate_capture::JobStanding;
use memgate_core::memory::{Filter, Owner, PreferenceKey, Source, Status};
use memgate_text::entity::{EntityRelation, Mention};

/// The user whose memories are meant.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Whose {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id. Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

impl Whose {
    /// The owner for the two ids.
    ///
    /// # Errors
    /// 400 when one of them is invalid.
    pub fn owner(&self) -> Result<Owner, ApiError> {
        let tenant = self.tenant_id.as_deref().unwrap_or(Owner::DEFAULT_TENANT);
        Owner::of_user(&self.user_id).map_err(|cause| ApiError::invalid("user_id", cause))?;
        Owner::new(tenant, &self.user_id).map_err(|cause| ApiError::invalid("tenant_id", cause))
    }
}

/// A page of a list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// Maximum number of items, 1 to 100. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

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

/// Which memories [`ListRequest`] lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListFilter {
    /// Only memories of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Only memories of this type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<String>,
    /// Only memories with this status. Default: those in use.
    #[param(schema_with = crate::api::openapi::status)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Only memories that mention this person or thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
}

flattened! {
    /// `DELETE /v1/memory`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ForgetRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's memories.
        pub scope: ForgetFilter,
    }
}

/// Which memories [`ForgetRequest`] deletes.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ForgetFilter {
    /// Only memories of this project. Default: all memories of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
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
    #[schema(schema_with = crate::api::openapi::source)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Importance, 0 to 1. Default: 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// Confidence, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Tags.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Custom metadata.
    #[schema(value_type = Object)]
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Entities that it mentions.
    #[schema(schema_with = crate::api::openapi::mentions)]
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// Relations between these entities.
    #[schema(schema_with = crate::api::openapi::entity_relations)]
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub entity_relations: Vec<EntityRelation>,
    /// Start of its validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of its validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

/// `PATCH /v1/memory/{id}`: absent members stay unchanged, `null` clears optional ones.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct PatchRequest {
    /// The version that the caller has read. Default: any version.
    pub version: Option<u32>,
    /// The text to remember.
    pub content: Option<String>,
    /// One of the configured types.
    #[serde(rename = "type")]
    pub memory_type: Option<String>,
    /// The project.
    #[serde(default, deserialize_with = "present")]
    pub project_id: Option<Option<String>>,
    /// The status.
    #[schema(schema_with = crate::api::openapi::status)]
    pub status: Option<Status>,
    /// Importance, 0 to 1.
    pub importance: Option<f32>,
    /// Confidence, 0 to 1.
    #[serde(default, deserialize_with = "present")]
    pub confidence: Option<Option<f32>>,
    /// Replaces all tags.
    pub tags: Option<Vec<String>>,
    /// Replaces all metadata.
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    /// Replaces all mentions. If absent and the content changes, mentions that it still contains
    /// are kept.
    #[schema(schema_with = crate::api::openapi::mentions)]
    pub mentions: Option<Vec<Mention>>,
    /// Replaces all relations. If absent, as with `mentions`.
    #[schema(schema_with = crate::api::openapi::entity_relations)]
    pub entity_relations: Option<Vec<EntityRelation>>,
    /// Start of its validity.
    #[serde(default, deserialize_with = "present")]
    pub valid_from: Option<Option<Timestamp>>,
    /// End of its validity.
    #[serde(default, deserialize_with = "present")]
    pub valid_until: Option<Option<Timestamp>>,
}

/// Accepts `null` for the default.
fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Distinguishes `null` from absent.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

flattened! {
    /// `POST /v1/memory/search`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct SearchRequest {
        /// The user.
        pub whose: Whose,
        /// What to search for.
        pub search: SearchTerms,
    }
}

/// The search of a [`SearchRequest`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SearchTerms {
    /// The search query.
    pub query: String,
    /// A project: finds its memories and those without a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Maximum number of hits, 1 to 50. Default: from the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Minimum relevance, 0 to 1. Default: from the configuration.
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

flattened! {
    /// `POST /v1/memory/flush`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct FlushRequest {
        /// The user.
        pub whose: Whose,
        /// How long to wait.
        pub options: FlushOptions,
    }
}

/// How long a [`FlushRequest`] waits.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FlushOptions {
    /// Maximum time to wait, in milliseconds, up to ten minutes. Default: 30 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

flattened! {
    /// `GET /v1/jobs`.
    #[derive(Clone, Debug, Serialize)]
    pub struct JobsRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's jobs.
        pub all: AllJobsRequest,
    }
}

flattened! {
    /// `GET /admin/jobs`: jobs of all users.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct AllJobsRequest {
        /// Which jobs.
        pub filter: JobFilter,
        /// The page.
        pub paging: Paging,
    }
}

/// Which jobs [`AllJobsRequest`] lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct JobFilter {
    /// Only jobs in this state.
    #[param(schema_with = crate::api::openapi::job_state)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobStanding>,
}

/// `POST /admin/jobs/retry`: jobs of all users.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RetryAllRequest {}

flattened! {
    /// `GET /v1/memory/export`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ExportRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's memories.
        pub all: ExportAllRequest,
    }
}

/// `GET /admin/memory/export`: memories of all users.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExportAllRequest {
    /// The last mark of an earlier export, to resume after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Maximum number of memories, 1 to 1000, or fewer if they are large. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether vectors are included. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<bool>,
}

/// `POST /admin/memory/import`: memories of all users; the export is the body.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ImportAllRequest {}

flattened! {
    /// `GET /v1/sessions`.
    #[derive(Clone, Debug, Serialize)]
    pub struct SessionsRequest {
        /// The user.
        pub whose: Whose,
        /// The page.
        pub paging: Paging,
    }
}

flattened! {
    /// `GET /v1/preferences`.
    #[derive(Clone, Debug, Serialize)]
    pub struct PreferencesRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's preferences.
        pub scope: PreferenceScope,
    }
}

/// Which preferences [`PreferencesRequest`] lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PreferenceScope {
    /// A project: lists its preferences and those without a project. Default: those without a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

flattened! {
    /// `PUT /v1/preferences`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct SetPreferenceRequest {
        /// The user.
        pub whose: Whose,
        /// The preference.
        pub preference: NewPreference,
    }
}

/// The preference of a [`SetPreferenceRequest`].
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NewPreference {
    /// What it is about.
    #[schema(schema_with = crate::api::openapi::preference_key)]
    pub key: PreferenceKey,
    /// One of the values of the key; for `name` a name of at most 40 letters.
    pub value: String,
    /// The project it belongs to. Default: none, in force in every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

flattened! {
    /// `DELETE /v1/preferences`.
    #[derive(Clone, Debug, Serialize)]
    pub struct UnsetPreferenceRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's preferences.
        pub preference: UnsetPreference,
    }
}

/// Which preferences an [`UnsetPreferenceRequest`] deletes.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UnsetPreference {
    /// What they are about.
    #[param(schema_with = crate::api::openapi::preference_key)]
    pub key: PreferenceKey,
    /// The project they belong to. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}
