//! What callers may ask, as JSON or in the query. Unknown members are refused: a misspelt
//! `project_id` must not turn "forget this project" into "forget everything".

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::ApiError;
use crate::{
    capture::JobStanding,
    memory::{EntityRelation, Filter, Mention, Owner, Source, Status},
};

/// Whose memories are meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whose {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

/// The owner of a request's two ids.
pub(super) fn owner(user_id: &str, tenant_id: Option<&str>) -> Result<Owner, ApiError> {
    let tenant = tenant_id.unwrap_or(Owner::DEFAULT_TENANT);
    Owner::of_user(user_id).map_err(|cause| ApiError::invalid("user_id", cause))?;
    Owner::new(tenant, user_id).map_err(|cause| ApiError::invalid("tenant_id", cause))
}

impl Whose {
    /// The owner of the two ids.
    ///
    /// # Errors
    /// 400 when one of them is none.
    pub fn owner(&self) -> Result<Owner, ApiError> {
        owner(&self.user_id, self.tenant_id.as_deref())
    }
}

/// `GET /v1/memory`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Only this project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Only this type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<String>,
    /// Only this status; absent: what is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Only what speaks of whom or what has this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// At most this many, 1 to 100; absent: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// `DELETE /v1/memory`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Only this project's; absent: everything of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// `POST /v1/memory`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// What to remember.
    pub content: String,
    /// One of the configured types; absent: `semantic`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<String>,
    /// The project it belongs to; absent: all of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The agent it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The session it was learnt in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Where it comes from; absent: `external_data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// How much it matters, 0 to 1; absent: 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// How sure it is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Free labels.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Free members.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Who and what it speaks of.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// How these stand to one another.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub entity_relations: Vec<EntityRelation>,
    /// True from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// True until.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
}

/// `PATCH /v1/memory/{id}`: what is absent stays, `null` takes away what can be absent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatchRequest {
    /// The version the caller has read; absent: whatever is stored.
    pub version: Option<u32>,
    /// What to remember.
    pub content: Option<String>,
    /// One of the configured types.
    #[serde(rename = "type")]
    pub memory_type: Option<String>,
    /// The project.
    #[serde(deserialize_with = "present")]
    pub project_id: Option<Option<String>>,
    /// Whether it may be presented.
    pub status: Option<Status>,
    /// How much it matters, 0 to 1.
    pub importance: Option<f32>,
    /// How sure it is, 0 to 1.
    #[serde(deserialize_with = "present")]
    pub confidence: Option<Option<f32>>,
    /// All labels anew.
    pub tags: Option<Vec<String>>,
    /// All free members anew.
    pub metadata: Option<Map<String, Value>>,
    /// All it speaks of anew; absent: with a new content, what of it is still named there.
    pub mentions: Option<Vec<Mention>>,
    /// All relations between these anew; absent: as with `mentions`.
    pub entity_relations: Option<Vec<EntityRelation>>,
    /// True from.
    #[serde(deserialize_with = "present")]
    pub valid_from: Option<Option<Timestamp>>,
    /// True until.
    #[serde(deserialize_with = "present")]
    pub valid_until: Option<Option<Timestamp>>,
}

/// Takes `null` for absent, where what is absent is empty or false.
fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Tells `null` from absent.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// `POST /v1/memory/search`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// What is looked for.
    pub query: String,
    /// With a project: its memories and those of no project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// At most this many, 1 to 50; absent: the configuration's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Of at least this relevance, 0 to 1; absent: the configuration's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Only these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// What must hold besides (docs/filters.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Only what happened then or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only what happened before; after `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether hits tell the parts of their score.
    #[serde(default, deserialize_with = "or_default")]
    pub explain: bool,
}

/// `POST /v1/memory/flush`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlushRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// The longest to wait, in milliseconds, at most ten minutes; absent: 30 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// `GET /v1/jobs`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Only those that stand so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobStanding>,
    /// At most this many, 1 to 100; absent: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// `GET /admin/jobs`: everybody's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllJobsRequest {
    /// Only those that stand so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobStanding>,
    /// At most this many, 1 to 100; absent: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// `POST /admin/jobs/retry`: everybody's.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryAllRequest {}

/// `GET /v1/memory/export`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// A mark of an earlier export, to go on from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// At most this many, 1 to 1000, and fewer where they are large; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether they come with their vectors; absent: they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<bool>,
}

/// `GET /admin/memory/export`: everybody's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportAllRequest {
    /// A mark of an earlier export, to go on from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// At most this many, 1 to 1000, and fewer where they are large; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether they come with their vectors; absent: they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<bool>,
}

/// `POST /admin/memory/import`: everybody's. What is imported is the body.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportAllRequest {}

/// `GET /v1/sessions`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionsRequest {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id; absent: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// At most this many, 1 to 100; absent: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
