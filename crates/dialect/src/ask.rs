//! The ask: what a request says, whichever dialect it speaks. Plain data, without places in the body
//! (see `place`).

use crate::options::MemoryOptions;

/// The dialect-neutral view of one request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    /// `model`.
    pub model: Option<String>,
    /// `stream`; false when absent.
    pub stream: bool,
    /// Text of the last user message, its text parts joined by newlines; empty when it has none
    /// (an image alone). `None` when the request has no user message.
    pub user_text: Option<String>,
    /// `name` of the last user message: who of several people said it.
    pub user_name: Option<String>,
    /// How many user messages this request holds, the last one included (so the last one's number,
    /// counted from 1); 0 when there is none.
    pub user_ordinal: u32,
    /// Identifies the images, audio, video and files of the last user message; `None` if there are
    /// none.
    pub user_media: Option<String>,
    /// Text of the first user message of this request.
    pub first_user_text: Option<String>,
    /// System and developer texts (in Responses `instructions` first), joined by newlines.
    pub instructions: Option<String>,
    /// The conversation before the last user message, oldest first: the last [`Ask::MAX_HISTORY`]
    /// messages that have text.
    pub history: Vec<Utterance>,
    /// A digest of everything before the last user message but system and developer messages, byte for byte as it was sent;
    /// `None` where there is nothing. Two requests with the same one go on from the same conversation.
    pub history_digest: Option<String>,
    /// Tool calls and their results after the last user message: the open tool loop. At most
    /// [`Ask::MAX_TOOL_ITEMS`], the first ones.
    pub tool_items: Vec<ToolItem>,
    /// Tool results follow the last user message: the model is asked to go on, not asked anew.
    pub in_tool_loop: bool,
    /// Names of the tools offered; the type for hosted tools that have no name.
    pub tools_offered: Vec<String>,
    /// Responses `previous_response_id`.
    pub previous_response_id: Option<String>,
    /// Responses `conversation`: the string, or its `id`.
    pub conversation: Option<String>,
    /// Responses `store`. Always `None` in Chat Completions, where it means nothing to memory.
    pub store: Option<bool>,
    /// Responses `background`.
    pub background: bool,
    /// `metadata.user_id`, unchecked.
    pub metadata_user_id: Option<String>,
    /// `metadata.session_id`, unchecked.
    pub metadata_session_id: Option<String>,
    /// `user`, unchecked.
    pub user: Option<String>,
    /// Our own fields: `memory_config`, `memory_context`, `auto_store`.
    pub options: MemoryOptions,
}

impl Ask {
    /// Bound of [`Ask::history`]: enough for key terms of the last three user messages and for a
    /// rewriting model, whatever the conversation's length.
    pub const MAX_HISTORY: usize = 20;

    /// Bound of [`Ask::tool_items`]: each result is looked up among them, and no agent makes more.
    pub const MAX_TOOL_ITEMS: usize = 1024;
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// Who said it.
    pub role: Role,
    /// Its text, never empty.
    pub text: String,
}

/// Who said an [`Utterance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A tool call, with its result where that is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolItem {
    /// The call's id; empty in the legacy function format, which has none.
    pub call_id: String,
    /// The tool's name; empty for a result whose call is not in the same body.
    pub name: String,
    /// The arguments as sent, normally JSON text.
    pub input: String,
    /// The result's text.
    pub output: Option<String>,
    /// Whether the tool failed, where the body says so.
    pub is_error: Option<bool>,
}
