//! A rehearsed recall as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::RecallView;

/// The context that a model would receive for a message.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ContextView {
    /// The decision, the candidates and the steps. Nothing of it is in the trail.
    pub recall: RecallView,
    /// The context; empty if none is added.
    pub context: String,
    /// The messages as the model would receive them, in the shape of Chat Completions.
    #[schema(value_type = Vec<Object>)]
    pub messages: Value,
    /// The configured embedding models. With several, `embedding_model` of the request shows what one of them alone finds.
    pub embedding_models: Vec<String>,
}
