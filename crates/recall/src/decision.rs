//! The decision whether to search for a message, and why a search has no answer.

use std::time::Duration;

use crate::signals::Earlier;
use memgate_core::memory::StoreError;

/// The last user message, and what else of the request matters for the decision.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The user's words.
    pub text: &'a str,
    /// Signals of earlier filters.
    pub signals: &'a Earlier,
    /// The model may call tools.
    pub tools_offered: bool,
}

/// Whether to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Memory may help.
    Search,
    /// It cannot.
    Skip(Skip),
}

/// Why memory is not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// A question about the world, or work on what the message brings along.
    Fact,
    /// A tool answers.
    Tool,
    /// Nothing was asked.
    Greeting,
    /// A chat client asks on its own: for a title, for questions that might follow.
    Housekeeping,
}

impl Skip {
    /// Whether the model words an answer, so that the user's preferences matter: also to a greeting, where a name and a
    /// form of address do. For a tool's result and a client's own prompt they do not.
    pub(crate) fn is_answered(self) -> bool {
        matches!(self, Self::Fact | Self::Greeting)
    }

    /// The decision as clients, logs and metrics see it, as in `x-memgate-decision`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "skipped:fact",
            Self::Tool => "skipped:tool",
            Self::Greeting => "skipped:greeting",
            Self::Housekeeping => "skipped:housekeeping",
        }
    }
}

/// The source of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DecidedBy {
    /// Filters before us.
    Earlier,
    /// A rule.
    Rule,
    /// The trained model, by the message's words.
    Lexical,
    /// The trained model, by the message's words and its embedding.
    Model,
    /// The memories: one holds most of the message's rare words.
    Memory,
}

impl DecidedBy {
    /// The label of the metric.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Why recall has no answer. The texts are ours and hold no content.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// Neither vectors nor words could be searched.
    #[error("embedding failed and so did the search by words: {0}")]
    Embedding(StoreError),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// The store is known to be unavailable, and was not asked.
    #[error("store unavailable: it cannot be reached now, memgate goes on trying")]
    Unavailable,
    /// The deadline passed.
    #[error("deadline passed")]
    Deadline,
}

impl RecallError {
    /// Logs it, as loud as an operator needs it.
    ///
    /// `limit`: `memory.deadline_ms`; `took`: how long the request has waited.
    pub fn log(&self, request_id: Option<&str>, limit: Duration, took: Duration) {
        match self {
            Self::Deadline => tracing::warn!(
                request_id,
                deadline_ms = limit.as_secs_f64() * 1e3,
                took_ms = took.as_secs_f64() * 1e3,
                "Memory search timeout, skipping"
            ),
            Self::Embedding(cause) => tracing::warn!(%cause, "Embedding failed, skipping memory"),
            Self::Store(cause @ StoreError::Busy(_)) => {
                tracing::warn!(%cause, "Memory search failed, skipping");
            }
            // The store is there, and something in it does not work.
            Self::Store(cause) => tracing::error!(%cause, "Store unavailable, memory disabled"),
            // Logged once, when it became unavailable.
            Self::Unavailable => {
                tracing::debug!("the store is away, the request goes on without memory");
            }
        }
    }
}
