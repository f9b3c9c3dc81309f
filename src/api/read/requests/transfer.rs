//! The requests for exports. That for an import is a query and lines (`read/input.rs`).

use memgate_located::flattened;
use serde::{Deserialize, Serialize};

use crate::api::read::requests::common::Whose;

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
