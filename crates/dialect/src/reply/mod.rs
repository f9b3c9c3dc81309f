//! Collects a reply from the chunks of a response body, streamed or not, in either dialect. It must
//! never know HTTP beyond the content type, and never judge whether the reply is worth keeping.

mod chat;
mod collector;
mod responses;
mod responses_stream;
mod thoughts;

pub use collector::ReplyCollector;

use crate::{
    ask::ToolItem,
    json::{Node, Object},
};

/// Most output items kept of one reply; a reply with more keeps the first ones.
pub(super) const MAX_ITEMS: usize = 256;

/// The answer of a model server.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The response's `id`.
    pub response_id: Option<String>,
    /// The model that says it answered.
    pub model: Option<String>,
    /// The words of choice 0, or all output text, without reasoning.
    pub text: String,
    /// The text of the model's refusal.
    pub refusal: Option<String>,
    /// The tools the reply calls.
    pub tool_calls: Vec<ToolItem>,
    /// How the reply ended.
    pub outcome: Ending,
    /// Tokens, where the server counts them.
    pub usage: Option<Usage>,
    /// The output in order: the items of a Responses reply as they were sent, or the message of
    /// choice 0 in the same shape. At most 256; an item that is no valid Unicode is left out.
    pub items: Vec<serde_json::Value>,
}

/// Token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Both.
    pub total: u64,
}

/// How a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The model had said everything.
    Complete,
    /// The length limit of a Chat Completions request was reached.
    Length,
    /// The client is to run tools and come back: the turn is still open.
    ToolCalls,
    /// The model refused.
    Refused,
    /// A content filter ended it.
    ContentFilter,
    /// It stopped early for this other reason: `response.incomplete`'s (`max_output_tokens`), a
    /// `finish_reason` of failure, or an unknown status.
    Incomplete(String),
    /// An error stands where the reply should.
    Failed,
    /// The server goes on working after this answer, or did so.
    Background,
    /// The body ended before the reply did.
    CutOff,
}

impl Ending {
    /// Whether the reply is complete, so that memgate may learn from the turn: of a refused one, what the user said. After
    /// [`Ending::ToolCalls`] the turn continues.
    pub fn is_well_ended(&self) -> bool {
        matches!(self, Self::Complete | Self::Length | Self::Refused)
    }
}

/// Why a body gives no reply. Holds nothing of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// More would have to be held in memory than allowed.
    #[error("the reply is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// No reply of this dialect.
    #[error("{0}")]
    Unreadable(&'static str),
}

/// Token counts under the names of one dialect.
fn usage(holder: &Object<'_>, input: &str, output: &str) -> Option<Usage> {
    let counts = holder.object("usage")?;
    let count = |key| counts.get(key).and_then(|node| node.count());
    let (input, output) = (count(input), count(output));
    let total = count("total_tokens");
    if input.is_none() && output.is_none() && total.is_none() {
        return None;
    }
    let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
    Some(Usage { input, output, total: total.unwrap_or(input.saturating_add(output)) })
}

/// A string that is there and not empty.
fn words(holder: &Object<'_>, key: &str) -> Option<String> {
    holder.string(key).filter(|words| !words.is_empty())
}

/// Whether the object says that something failed, in place of a reply.
fn is_error(root: &Object<'_>) -> bool {
    root.get("error").is_some() || root.str("object").as_deref() == Some("error")
}

/// An item as a value of its own.
fn owned(item: Node<'_>) -> Option<serde_json::Value> {
    serde_json::from_str(item.text()).ok()
}
