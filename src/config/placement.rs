//! Where a context goes in a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the context stands in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// At the end of the first system message; every chat template takes that.
    #[default]
    System,
    /// In a message of its own before the last user message; keeps the model server's prefix cache.
    BeforeLastUser,
    /// In front of the last user message's own text; keeps the model server's prefix cache.
    LastUser,
}
