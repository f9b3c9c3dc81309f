//! Reads Chat Completions requests. It must never edit: it only says where the seats are.

use crate::{
    ask::{Ask, ToolItem},
    error::ReadError,
    json::{Node, Object},
    message::{Entry, Speaker, ToolEvent, any_text, digest},
    seats::{Layout, SystemSeat, TextSeat, UserSeat},
};

/// The type of a text part in this dialect.
const PART: &str = "text";

/// Reads the dialect's own fields into the ask and finds the seats.
pub(super) fn read(root: &Object<'_>, ask: &mut Ask) -> Result<Layout, ReadError> {
    let entries = match root.get("messages") {
        None => Vec::new(),
        Some(messages) => entries(messages)?,
    };
    ask.tools_offered = tools_offered(root);
    let last = digest(ask, &entries, None, tool_events);
    let user = last.and_then(|last| entries.get(last)).map(|entry| UserSeat::Message {
        start: entry.node.span().start,
        text: entry.content.and_then(|content| TextSeat::of(content, PART)),
    });
    Ok(Layout { system: system_seat(&entries), user })
}

fn entries(messages: Node<'_>) -> Result<Vec<Entry<'_>>, ReadError> {
    let messages = messages
        .elements()
        .ok_or(ReadError::Unreadable("messages is not a list that can be read"))?;
    messages
        .into_iter()
        .map(|node| {
            let message =
                node.object().ok_or(ReadError::Unreadable("a message is not an object"))?;
            let speaker = Speaker::of_role(message.str("role").as_deref());
            Ok(Entry { node, speaker, content: message.get("content") })
        })
        .collect()
}

fn system_seat(entries: &[Entry<'_>]) -> SystemSeat {
    let Some(first) = entries.first() else { return SystemSeat::Nowhere };
    entries
        .iter()
        .find(|entry| entry.speaker == Speaker::System)
        .and_then(|entry| TextSeat::of(entry.content?, PART))
        .map_or(SystemSeat::NewMessage { at: first.node.span().start }, SystemSeat::Text)
}

fn tools_offered(root: &Object<'_>) -> Vec<String> {
    let tools = root.elements("tools").unwrap_or_default();
    let functions = root.elements("functions").unwrap_or_default();
    let named = |tool: Object<'_>| {
        let inner = tool.object("function").or_else(|| tool.object("custom"));
        inner.as_ref().unwrap_or(&tool).string("name").or_else(|| tool.string("type"))
    };
    tools.iter().chain(&functions).filter_map(Node::object).filter_map(named).collect()
}

fn tool_events(message: &Object<'_>) -> Vec<ToolEvent> {
    match message.str("role").as_deref() {
        Some("assistant") => calls(message).into_iter().map(ToolEvent::Call).collect(),
        Some("tool" | "function") => vec![ToolEvent::Result(ToolItem {
            call_id: message.string("tool_call_id").unwrap_or_default(),
            name: message.string("name").unwrap_or_default(),
            input: String::new(),
            output: Some(message.get("content").map(any_text).unwrap_or_default()),
            is_error: message.bool("is_error"),
        })],
        _ => Vec::new(),
    }
}

/// The tool calls of an assistant message, the legacy `function_call` included.
pub(super) fn calls(message: &Object<'_>) -> Vec<ToolItem> {
    let listed = message.elements("tool_calls").unwrap_or_default();
    let legacy = message.object("function_call").map(|function| ToolItem {
        name: function.string("name").unwrap_or_default(),
        input: function.get("arguments").map(any_text).unwrap_or_default(),
        ..ToolItem::default()
    });
    listed.iter().filter_map(Node::object).map(|call| listed_call(&call)).chain(legacy).collect()
}

fn listed_call(call: &Object<'_>) -> ToolItem {
    let called = call.object("function").or_else(|| call.object("custom"));
    let called = called.as_ref();
    let input = called.and_then(|called| called.get("arguments").or_else(|| called.get("input")));
    ToolItem {
        call_id: call.string("id").unwrap_or_default(),
        name: called.and_then(|called| called.string("name")).unwrap_or_default(),
        input: input.map(any_text).unwrap_or_default(),
        ..ToolItem::default()
    }
}
