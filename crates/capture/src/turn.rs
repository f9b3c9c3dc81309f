//! Turns: as the gateway hands them over after a reply that ended well, as the journal lends them to
//! recall, and as jobs read them.

use jiff::Timestamp;

use crate::session::{Place, SessionKey};
use memgate_core::memory::{MemoryId, Owner};
use memgate_dialect::{Ask, Ending, Reply, ToolItem};

/// An exchange that ended well and may be learnt from. Making one decides that:
/// [`FinishedTurn::new`] refuses what failed, was cut off or was refused.
#[derive(Clone, Debug)]
pub struct FinishedTurn {
    /// Whose.
    pub owner: Owner,
    /// Scope: the project.
    pub project_id: Option<String>,
    /// Scope: the agent.
    pub agent_id: Option<String>,
    /// The session it belongs to.
    pub session: SessionKey,
    /// Its place among the session's turns.
    pub place: Place,
    /// The words of the last user message; empty in the middle of a tool loop
    /// whose earlier messages the model server keeps.
    pub user_text: String,
    /// A digest of its images and files, if it has any.
    pub media: Option<String>,
    /// Tool calls of this turn so far, with their results where known.
    pub tool_items: Vec<ToolItem>,
    /// The reply.
    pub reply: Reply,
    /// The request's id, for provenance.
    pub request_id: Option<String>,
    /// When the request began.
    pub began: Timestamp,
    /// When the reply ended.
    pub ended: Timestamp,
    /// The session ends with this exchange.
    pub ends_session: bool,
    /// Whether is learnt from it; else only what it asks to be forgotten counts.
    pub learn: bool,
}

/// Where an exchange came from and when; what its bodies do not say.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// Whose.
    pub owner: Owner,
    /// Scope: the project.
    pub project_id: Option<String>,
    /// Scope: the agent.
    pub agent_id: Option<String>,
    /// Header `x-session-id`.
    pub session_header: Option<String>,
    /// The request's id.
    pub request_id: Option<String>,
    /// When the request began.
    pub began: Timestamp,
    /// When the reply ended.
    pub ended: Timestamp,
    /// The client says that the session ends with this exchange.
    pub ends_session: bool,
    /// Whether may be learnt from it.
    pub learn: bool,
}

impl FinishedTurn {
    /// The turn of an exchange, or `None` when there is nothing to learn from it:
    /// a reply that is not whole (unless its tools are still to run), or a
    /// request that neither holds a user message nor goes on from one.
    #[must_use]
    pub fn new(ask: &Ask, reply: Reply, of: Circumstances) -> Option<Self> {
        if !reply.outcome.is_well_ended() && reply.outcome != Ending::ToolCalls {
            return None;
        }
        let place = Place::of(ask)?;
        let session = SessionKey::of(of.session_header.as_deref(), ask, &of.owner);
        Some(Self {
            owner: of.owner,
            project_id: of.project_id,
            agent_id: of.agent_id,
            session,
            place,
            user_text: ask.user_text.clone().unwrap_or_default(),
            media: ask.user_media.clone(),
            tool_items: ask.tool_items.clone(),
            // The items hold text and calls once more, and what the model thought.
            reply: Reply { items: Vec::new(), ..reply },
            request_id: of.request_id,
            began: of.began,
            ended: of.ended,
            ends_session: of.ends_session,
            learn: of.learn,
        })
    }

    /// About how much memory it takes while it waits, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let tool = |item: &ToolItem| {
            item.name.len() + item.input.len() + item.output.as_ref().map_or(0, String::len)
        };
        let reply = self.reply.text.len() + self.reply.tool_calls.iter().map(tool).sum::<usize>();
        size_of::<Self>()
            + self.user_text.len()
            + self.tool_items.iter().map(tool).sum::<usize>()
            + reply
    }
}

/// A turn as the journal lends it to recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledTurn {
    /// Its session's id.
    pub session: String,
    /// The user's words, screened.
    pub user_text: String,
    /// The reply's words, screened; of the last reply when tools ran between.
    pub reply_text: String,
    /// When the request began.
    pub at: Timestamp,
}

/// A turn of the journal, with what jobs need.
#[derive(Clone, Debug)]
pub(crate) struct StoredTurn {
    pub(crate) key: String,
    pub(crate) owner: Owner,
    pub(crate) session: String,
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) user_text: String,
    /// Of the last reply that has words.
    pub(crate) reply_text: String,
    pub(crate) began: Timestamp,
    /// Of the first exchange.
    pub(crate) request_id: Option<String>,
}

impl StoredTurn {
    /// The id of its memory.
    pub(crate) fn memory_id(&self) -> MemoryId {
        MemoryId::of_turn(&self.owner, &self.key)
    }
}
