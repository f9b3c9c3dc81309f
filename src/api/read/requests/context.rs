//! The request for a rehearsed recall.

use memgate_config::Placement;
use memgate_located::flattened;
use serde::{Deserialize, Serialize};

use crate::api::read::requests::common::{Whose, or_default};

flattened! {
    /// `POST /v1/context`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct ContextRequest {
        /// The user.
        pub whose: Whose,
        /// The user's message.
        pub said: ContextTerms,
    }
}

/// The user's side of a [`ContextRequest`]. Absent settings are those of the configuration, without its policies.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ContextTerms {
    /// The message.
    pub message: String,
    /// The user's earlier messages in the conversation, the oldest first; at most 64.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// A project: searches its memories and those without a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// An agent: searches its memories and those without an agent. Default: those without an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Maximum number of presented memories, 1 to 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Minimum relevance, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Only memories of these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// One of several configured embedding models: only its vectors are compared. Default: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,
    /// Where the context is placed: `system`, `before_last_user` or `last_user`.
    #[schema(value_type = Option<String>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}
