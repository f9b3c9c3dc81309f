//! Responses replies as a stream of typed events.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    json::{Node, Object},
    reply::{
        Reply, ReplyError, is_error,
        responses::{Response, Status, add},
    },
};

/// Bytes that an accumulated item or part costs beside its own, so that very many empty ones count.
const PART_OVERHEAD: usize = 128;

/// The state of a streamed reply.
#[derive(Default)]
pub(super) struct ResponsesStream {
    /// The newest response object; only the last one has an output.
    response: Option<Response>,
    /// The items by `output_index`, from the deltas: used when the last response object has no
    /// output.
    items: BTreeMap<u64, Item>,
    ended: Option<Status>,
    begun: bool,
    held: usize,
}

/// One output item, assembled from the events.
#[derive(Default)]
struct Item {
    /// The newest form of the item the server sent, as JSON text.
    sent: String,
    /// Text and refusal by `content_index`.
    parts: BTreeMap<u64, Part>,
    arguments: String,
}

#[derive(Default)]
struct Part {
    text: String,
    refusal: String,
}

impl ResponsesStream {
    /// Takes one event; its type stands in the data, the event's name is a copy of it.
    pub(super) fn take(&mut self, name: &str, root: &Object<'_>) {
        self.begun = true;
        let kind = root.str("type").unwrap_or_else(|| name.into());
        match kind.as_ref() {
            "response.completed" => self.end(root, Status::Completed),
            "response.incomplete" => self.end(root, Status::Incomplete),
            "response.failed" | "error" => self.end(root, Status::Failed),
            "response.created" | "response.in_progress" | "response.queued" => self.keep(root),
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(sent) = root.get("item") {
                    self.at(root, |item| sent.text().clone_into(&mut item.sent));
                }
            }
            "response.output_text.delta" => {
                self.at_part(root, |part| add(&mut part.text, root, "delta"))
            }
            "response.output_text.done" => {
                self.at_part(root, |part| put(&mut part.text, root, "text"))
            }
            "response.refusal.delta" => {
                self.at_part(root, |part| add(&mut part.refusal, root, "delta"))
            }
            "response.refusal.done" => {
                self.at_part(root, |part| put(&mut part.refusal, root, "refusal"))
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.at(root, |item| add(&mut item.arguments, root, "delta"));
            }
            "response.function_call_arguments.done" => {
                self.at(root, |item| put(&mut item.arguments, root, "arguments"));
            }
            "response.custom_tool_call_input.done" => {
                self.at(root, |item| put(&mut item.arguments, root, "input"))
            }
            // Content parts repeat the texts; reasoning is no text; the rest is progress.
            _ if root.get("type").is_none() && is_error(root) => self.end(root, Status::Failed),
            _ => {}
        }
    }

    fn end(&mut self, root: &Object<'_>, status: Status) {
        self.keep(root);
        self.ended = Some(status);
    }

    fn keep(&mut self, root: &Object<'_>) {
        let Some(node) = root.get("response") else { return };
        let Some(object) = node.object() else { return };
        let mut response = Response::read(&object);
        response.cost = node.text().len();
        self.held += response.cost;
        if let Some(before) = self.response.take() {
            self.held = self.held.saturating_sub(before.cost);
            response.id = response.id.or(before.id);
            response.model = response.model.or(before.model);
        }
        self.response = Some(response);
    }

    fn at(&mut self, root: &Object<'_>, change: impl FnOnce(&mut Item)) {
        let index = index(root, "output_index");
        let held = &mut self.held;
        let item = self.items.entry(index).or_insert_with(|| {
            *held += PART_OVERHEAD;
            Item::default()
        });
        let before = item.sent.len() + item.arguments.len();
        change(item);
        *held = (*held + item.sent.len() + item.arguments.len()).saturating_sub(before);
    }

    fn at_part(&mut self, root: &Object<'_>, change: impl FnOnce(&mut Part)) {
        let mut grown = 0;
        let mut shrunk = 0;
        self.at(root, |item| {
            let part = item.parts.entry(index(root, "content_index")).or_insert_with(|| {
                grown += PART_OVERHEAD;
                Part::default()
            });
            shrunk = part.text.len() + part.refusal.len();
            change(part);
            grown += part.text.len() + part.refusal.len();
        });
        self.held = (self.held + grown).saturating_sub(shrunk);
    }

    /// Bytes accumulated.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The reply when the body has ended.
    pub(super) fn finish(self) -> Result<Reply, ReplyError> {
        if !self.begun {
            return Err(ReplyError::Unreadable("the stream has no event"));
        }
        let mut response = self.response.unwrap_or_default();
        if response.output.is_empty() {
            for item in self.items.values() {
                let whole = item.whole().to_string();
                let node = Node::of(&whole);
                if let Some(item) = node.object() {
                    response.output.take(node, &item);
                }
            }
        }
        Ok(response.into_reply(Some(self.ended.unwrap_or(Status::CutOff))))
    }
}

impl Item {
    /// The item with what only the deltas said put in.
    fn whole(&self) -> Value {
        let sent = serde_json::from_str(&self.sent).unwrap_or(Value::Null);
        let mut item = match sent {
            Value::Object(item) => item,
            _ => Map::new(),
        };
        item.entry("type").or_insert_with(|| "message".into());
        let told = |member: &Value| member.as_array().is_some_and(|parts| !parts.is_empty());
        if !self.parts.is_empty() && !item.get("content").is_some_and(told) {
            item.insert("content".to_owned(), self.parts.values().flat_map(Part::told).collect());
        }
        if !self.arguments.is_empty() {
            let custom = item.get("type").is_some_and(|kind| kind == "custom_tool_call");
            let member = if custom { "input" } else { "arguments" };
            item.insert(member.to_owned(), self.arguments.as_str().into());
        }
        Value::Object(item)
    }
}

impl Part {
    fn told(&self) -> Vec<Value> {
        let text = json!({"type": "output_text", "text": self.text});
        let refusal = json!({"type": "refusal", "refusal": self.refusal});
        [(text, &self.text), (refusal, &self.refusal)]
            .into_iter()
            .filter(|(_, words)| !words.is_empty())
            .map(|(part, _)| part)
            .collect()
    }
}

fn index(root: &Object<'_>, key: &str) -> u64 {
    root.get(key).and_then(|node| node.count()).unwrap_or(0)
}

/// The whole text, which replaces what the deltas made of it.
fn put(text: &mut String, root: &Object<'_>, key: &str) {
    if let Some(whole) = root.string(key) {
        *text = whole;
    }
}
