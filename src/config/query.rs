//! The `memory.query:` section: what a question is turned into before it is searched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a question is turned into before it is searched; each can be switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueryConfig {
    /// Whether a question that does not stand for itself ("and the hotel?") is searched with words of the user's
    /// messages before it, those first that few of them have.
    pub key_terms: bool,
    /// Whether memories of a time that the question names ("in March", "last summer") stand higher.
    pub times: bool,
    /// Whether memories of the type that the question asks for stand higher: `procedural` for "how do I",
    /// `episodic` for "when did".
    pub types: bool,
    /// Whether a question that asks for several things is also searched part by part, at most three. Measured: it
    /// finds no more of what several-part questions need, and more that they do not.
    pub parts: bool,
}

impl Default for QueryConfig {
    fn default() -> Self {
        Self { key_terms: true, times: true, types: true, parts: false }
    }
}
