//! The `memory.query:` section: what a question is turned into before it is searched.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Techniques that turn a question into a query; each can be switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueryConfig {
    /// Whether a question that does not stand for itself ("and the hotel?") is searched with words of the user's
    /// messages before it, those first that few of them have.
    pub key_terms: bool,
    /// Whether memories of a time that the question names ("in March", "last summer") stand higher.
    pub times: bool,
    /// Whether a question that asks for several things is also searched part by part, at most three. Measured: it
    /// finds no more of what several-part questions need, and more that they do not.
    pub decompose: bool,
    /// Whether a question is embedded as the statement that would answer it ("my budget for Hawaii is").
    pub question_to_statement: bool,
    /// Whether the `memory_rewrite` model is asked what an answer may look like (HyDE); that is searched for where the
    /// question itself finds nothing relevant enough. Asked at each search, beside it.
    pub hyde: bool,
    /// Whether the `memory_rewrite` model is asked which memories a question wants: of which days, types and tags, and
    /// about whom or what. These are also searched alone, and stand higher; what the question itself finds stays, and no
    /// memory is presented that is not relevant enough without it. Asked at each search, beside it, and in the same
    /// request rewrites a question that does not stand for itself, or guesses for `hyde`.
    pub self_query: bool,
    /// The longest a search waits for the `memory_rewrite` model beyond `memory.deadline_ms`, in milliseconds, and no
    /// longer than its `llm_timeout_seconds`. Envoy is asked to wait as much longer: both deadlines and 200 ms must lie
    /// below its `max_message_timeout`.
    #[schemars(range(min = 10, max = 5000))]
    pub rewrite_deadline_ms: u64,
}

impl QueryConfig {
    /// The longest a search waits for a model.
    #[must_use]
    pub fn rewrite_deadline(&self) -> Duration {
        Duration::from_millis(self.rewrite_deadline_ms)
    }
}

impl Default for QueryConfig {
    fn default() -> Self {
        Self {
            key_terms: true,
            times: true,
            decompose: false,
            question_to_statement: false,
            hyde: false,
            self_query: false,
            rewrite_deadline_ms: 300,
        }
    }
}
