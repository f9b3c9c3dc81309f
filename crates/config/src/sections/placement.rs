//! Where the context is placed in the request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the context is placed in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// At the end of the first system message; every chat template supports this.
    #[default]
    System,
    /// In a separate message before the last user message; keeps the model server's prefix cache.
    BeforeLastUser,
    /// Before the text of the last user message; keeps the model server's prefix cache.
    LastUser,
}
