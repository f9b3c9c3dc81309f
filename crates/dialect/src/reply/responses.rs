//! Responses replies as one object: what a server answers at once, and what ends a stream.

use crate::{
    ask::ToolItem,
    json::{Node, Object},
    reply::{
        Ending, MAX_ITEMS, Reply, ReplyError, Usage, is_error, owned, thoughts::without_thoughts,
        usage, words,
    },
    responses::call,
};

/// Reads a reply that is not streamed.
pub(super) fn reply(root: &Object<'_>) -> Result<Reply, ReplyError> {
    if root.get("output").is_none() && root.get("status").is_none() && !is_error(root) {
        return Err(ReplyError::Unreadable("the reply has neither output nor status"));
    }
    Ok(Response::read(root).into_reply(None))
}

/// How the stream, or the response object, says it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Completed,
    Incomplete,
    Failed,
    CutOff,
}

/// A response object.
#[derive(Default)]
pub(super) struct Response {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    status: Option<String>,
    reason: Option<String>,
    background: bool,
    failed: bool,
    usage: Option<Usage>,
    pub(super) output: Output,
    /// Bytes this was read from.
    pub(super) cost: usize,
}

/// The content of the output items.
#[derive(Default)]
pub(super) struct Output {
    text: String,
    refusal: String,
    calls: Vec<ToolItem>,
    items: Vec<serde_json::Value>,
    /// A call waits for the client.
    pending: bool,
}

impl Response {
    pub(super) fn read(root: &Object<'_>) -> Self {
        let mut output = Output::default();
        for node in root.elements("output").unwrap_or_default() {
            if let Some(item) = node.object() {
                output.take(node, &item);
            }
        }
        Self {
            id: words(root, "id"),
            model: words(root, "model"),
            status: words(root, "status"),
            reason: root.object("incomplete_details").and_then(|details| words(&details, "reason")),
            background: root.bool("background").unwrap_or(false),
            failed: is_error(root),
            usage: usage(root, "input_tokens", "output_tokens"),
            output,
            cost: 0,
        }
    }

    /// `ended` is what a stream's last event said; a whole object says it by its status.
    fn ending(&self, ended: Option<Status>) -> Ending {
        let status = match self.status.as_deref() {
            _ if self.failed => Status::Failed,
            _ if ended.is_some() => ended.unwrap_or(Status::CutOff),
            Some("completed") => Status::Completed,
            Some("incomplete") => Status::Incomplete,
            Some("failed") => Status::Failed,
            Some("queued" | "in_progress") => return Ending::Background,
            Some(other) => return Ending::Incomplete(other.to_owned()),
            // Servers that leave the status out send only whole replies.
            None => Status::Completed,
        };
        match status {
            Status::Failed => Ending::Failed,
            Status::CutOff => Ending::CutOff,
            _ if self.background => Ending::Background,
            Status::Incomplete => match self.reason.as_deref() {
                Some("content_filter") => Ending::ContentFilter,
                reason => Ending::Incomplete(reason.unwrap_or("incomplete").to_owned()),
            },
            Status::Completed if !self.output.refusal.is_empty() => Ending::Refused,
            Status::Completed if self.output.pending => Ending::ToolCalls,
            Status::Completed => Ending::Complete,
        }
    }

    pub(super) fn into_reply(self, ended: Option<Status>) -> Reply {
        let outcome = self.ending(ended);
        let Output { text, refusal, calls, items, .. } = self.output;
        Reply {
            response_id: self.id,
            model: self.model,
            text: without_thoughts(text),
            refusal: Some(refusal).filter(|refusal| !refusal.is_empty()),
            tool_calls: calls,
            outcome,
            usage: self.usage,
            items,
        }
    }
}

impl Output {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
            && self.refusal.is_empty()
            && self.calls.is_empty()
            && self.items.is_empty()
    }

    pub(super) fn take(&mut self, node: Node<'_>, item: &Object<'_>) {
        if item.str("type").as_deref() == Some("message") {
            for part in item.elements("content").unwrap_or_default().iter().filter_map(Node::object)
            {
                match part.str("type").as_deref() {
                    Some("output_text") => add(&mut self.text, &part, "text"),
                    Some("refusal") => add(&mut self.refusal, &part, "refusal"),
                    _ => {}
                }
            }
        }
        if let Some(call) = call(item) {
            self.pending |= call.output.is_none() && call.is_error.is_none();
            self.calls.push(call);
        }
        if self.items.len() < MAX_ITEMS {
            self.items.extend(owned(node));
        }
    }
}

/// Adds a member's text to what is there.
pub(super) fn add(text: &mut String, root: &Object<'_>, key: &str) {
    text.push_str(&root.string(key).unwrap_or_default());
}
