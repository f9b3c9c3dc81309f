//! Chat Completions replies: the whole object, and the stream of chunks.

use std::collections::BTreeMap;

use serde_json::json;

use crate::{
    ask::ToolItem,
    chat::calls,
    json::{Node, Object},
    message::content_text,
    reply::{Ending, Reply, ReplyError, Usage, is_error, thoughts::without_thoughts, usage, words},
};

/// Bytes that an accumulated tool call costs beside its own, so that very many small ones count.
const CALL_OVERHEAD: usize = 128;

/// Reasons of servers that gave up: vLLM's and SGLang's `abort`, DeepSeek's `insufficient_system_resource`, and what
/// proxies make of an error.
const FAILURES: [&str; 5] =
    ["abort", "cancelled", "error", "insufficient_system_resource", "network_error"];

/// Reads a reply that is not streamed.
pub(super) fn reply(root: &Object<'_>) -> Result<Reply, ReplyError> {
    let mut read = Read { failed: is_error(root), is_whole: true, ..Read::default() };
    read.take_head(root);
    match choice_0(root) {
        Some(choice) => {
            if let Some(message) = choice.object("message") {
                read.text = message.get("content").map(content_text).unwrap_or_default();
                read.refusal = words(&message, "refusal").unwrap_or_default();
                read.calls = calls(&message);
            }
            read.finish_reason = words(&choice, "finish_reason");
        }
        None if read.failed => {}
        None => return Err(ReplyError::Unreadable("the reply has no choice")),
    }
    Ok(read.into_reply())
}

/// The state of a streamed reply.
#[derive(Default)]
pub(super) struct ChatStream {
    read: Read,
    /// By the index the server gives them; the legacy function call stands last.
    calls: BTreeMap<u64, ToolItem>,
    /// A chunk was seen.
    begun: bool,
    held: usize,
}

impl ChatStream {
    /// Takes one chunk.
    pub(super) fn take(&mut self, name: &str, root: &Object<'_>) {
        self.begun = true;
        if name == "error" || is_error(root) {
            self.read.failed = true;
        }
        self.read.take_head(root);
        let Some(choice) = choice_0(root) else { return };
        if let Some(delta) = choice.object("delta") {
            self.take_delta(&delta);
        }
        if let Some(reason) = words(&choice, "finish_reason") {
            self.read.finish_reason = Some(reason);
        }
    }

    /// Notes that the stream ended by its end mark.
    pub(super) fn done(&mut self) {
        self.read.is_whole = true;
    }

    fn take_delta(&mut self, delta: &Object<'_>) {
        let text = delta.get("content").map(content_text).unwrap_or_default();
        let refusal = words(delta, "refusal").unwrap_or_default();
        self.held += text.len() + refusal.len();
        self.read.text.push_str(&text);
        self.read.refusal.push_str(&refusal);
        for call in delta.elements("tool_calls").unwrap_or_default().iter().filter_map(Node::object)
        {
            let index = call.get("index").and_then(|node| node.count()).unwrap_or(0);
            self.add_call(
                index,
                call.string("id"),
                call.object("function").or_else(|| call.object("custom")),
            );
        }
        if let Some(function) = delta.object("function_call") {
            self.add_call(u64::MAX, None, Some(function));
        }
    }

    fn add_call(&mut self, index: u64, id: Option<String>, called: Option<Object<'_>>) {
        let held = &mut self.held;
        let call = self.calls.entry(index).or_insert_with(|| {
            *held += CALL_OVERHEAD;
            ToolItem::default()
        });
        let before = call.call_id.len() + call.name.len() + call.input.len();
        // Ids and names come whole, some servers repeat them; arguments come in pieces.
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            call.call_id = id;
        }
        if let Some(called) = called {
            if let Some(name) = words(&called, "name") {
                call.name = name;
            }
            let piece = called.string("arguments").or_else(|| called.string("input"));
            call.input.push_str(&piece.unwrap_or_default());
        }
        *held = (*held + call.call_id.len() + call.name.len() + call.input.len())
            .saturating_sub(before);
    }

    /// Bytes accumulated.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The reply when the body has ended.
    pub(super) fn finish(mut self) -> Result<Reply, ReplyError> {
        if !self.begun {
            return Err(ReplyError::Unreadable("the stream has no event"));
        }
        self.read.calls = self.calls.into_values().collect();
        Ok(self.read.into_reply())
    }
}

/// A reply, read as one body or as a stream.
#[derive(Default)]
struct Read {
    id: Option<String>,
    model: Option<String>,
    text: String,
    refusal: String,
    calls: Vec<ToolItem>,
    finish_reason: Option<String>,
    /// The JSON object was whole, or the stream had its end mark.
    is_whole: bool,
    usage: Option<Usage>,
    failed: bool,
}

impl Read {
    fn take_head(&mut self, root: &Object<'_>) {
        if self.id.is_none() {
            self.id = words(root, "id");
        }
        if self.model.is_none() {
            self.model = words(root, "model");
        }
        if let Some(usage) = usage(root, "prompt_tokens", "completion_tokens") {
            self.usage = Some(usage);
        }
    }

    /// A server may leave the reason out or name its own (`eos`, `end_turn`): a reply with text is complete if it ended by
    /// its protocol, and no reason says otherwise.
    fn ending(&self) -> Ending {
        let reason = self.finish_reason.as_deref().map(str::to_ascii_lowercase);
        match reason.as_deref() {
            _ if self.failed => Ending::Failed,
            Some("content_filter") => Ending::ContentFilter,
            Some(reason) if FAILURES.contains(&reason) => Ending::Incomplete(reason.to_owned()),
            None if !self.is_whole => Ending::CutOff,
            _ if !self.refusal.is_empty() => Ending::Refused,
            Some("length" | "max_tokens" | "model_length") => Ending::Length,
            Some("tool_calls" | "function_call") => Ending::ToolCalls,
            // Some servers say `stop` after a tool call too.
            _ if !self.calls.is_empty() => Ending::ToolCalls,
            None if self.text.is_empty() => Ending::CutOff,
            _ => Ending::Complete,
        }
    }

    fn into_reply(mut self) -> Reply {
        self.text = without_thoughts(self.text);
        let outcome = self.ending();
        Reply {
            response_id: self.id,
            model: self.model,
            items: items(&self.text, &self.refusal, &self.calls),
            text: self.text,
            refusal: Some(self.refusal).filter(|refusal| !refusal.is_empty()),
            tool_calls: self.calls,
            outcome,
            usage: self.usage,
        }
    }
}

/// The message in the shape of output items.
fn items(text: &str, refusal: &str, calls: &[ToolItem]) -> Vec<serde_json::Value> {
    let said = [("output_text", "text", text), ("refusal", "refusal", refusal)];
    let parts: Vec<_> = said
        .into_iter()
        .filter(|(_, _, words)| !words.is_empty())
        .map(|(kind, member, words)| json!({"type": kind, member: words}))
        .collect();
    let message = (!parts.is_empty())
        .then(|| json!({"type": "message", "role": "assistant", "content": parts}));
    let called = calls.iter().map(|call| {
        json!({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.input})
    });
    message.into_iter().chain(called).take(crate::reply::MAX_ITEMS).collect()
}

/// The choice of index 0; a choice that does not say its index is taken for it.
fn choice_0<'a>(root: &Object<'a>) -> Option<Object<'a>> {
    let choices = root.elements("choices")?;
    choices
        .iter()
        .filter_map(Node::object)
        .find(|choice| choice.get("index").is_none_or(|index| index.count() == Some(0)))
}
