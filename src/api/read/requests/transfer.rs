//! The requests for exports and imports. An import has its lines beside it (`read/input.rs`).

use memgate_located::flattened;
use serde::{Deserialize, Serialize};

use crate::api::read::requests::members::{Whose, or_default};

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

flattened! {
    /// `POST /v1/memory/import`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ImportRequest {
        /// The user.
        pub whose: Whose,
        /// How the lines are taken.
        pub options: ImportOptions,
    }
}

/// `POST /admin/memory/import`: memories of all users.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ImportOptions {
    /// Whether a memory that gives orders to the model is stored as a quotation (`kind`) rather than refused. Default:
    /// false.
    #[serde(default, deserialize_with = "or_default")]
    pub admit_quoted: bool,
}
