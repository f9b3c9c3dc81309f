//! Reads Responses requests. It must never edit: it only says where the seats are.

use crate::{
    ask::{Ask, ToolItem},
    error::ReadError,
    json::{Node, Object},
    message::{Entry, Speaker, ToolEvent, any_text, digest},
    seats::{Layout, SystemSeat, TextSeat, UserSeat},
};

/// The type of a text part in this dialect's input.
const PART: &str = "input_text";

/// Reads the dialect's own fields into the ask and finds the seats.
pub(super) fn read(root: &Object<'_>, ask: &mut Ask, ours: &[&str]) -> Result<Layout, ReadError> {
    ask.previous_response_id = root.string("previous_response_id");
    ask.conversation = root.get("conversation").and_then(|node| match node.object() {
        Some(conversation) => conversation.string("id"),
        None => node.lossy_str().map(Into::into),
    });
    ask.store = root.bool("store");
    ask.background = root.bool("background").unwrap_or(false);
    ask.tools_offered = tools_offered(root);
    let input = root.get("input");
    let bare = input.filter(Node::is_string);
    let entries = match (bare, input) {
        // A bare string is one user message.
        (Some(text), _) => vec![Entry { node: text, speaker: Speaker::User, content: Some(text) }],
        (None, Some(items)) => entries(items)?,
        (None, None) => Vec::new(),
    };
    let last = digest(ask, &entries, root.string("instructions"), tool_events);
    let user = match bare {
        Some(text) => Some(UserSeat::Input(text.span())),
        None => last.and_then(|last| entries.get(last)).map(|entry| UserSeat::Message {
            start: entry.node.span().start,
            text: entry.content.and_then(|content| TextSeat::of(content, PART)),
        }),
    };
    Ok(Layout { system: system_seat(root, ours), user })
}

fn entries(input: Node<'_>) -> Result<Vec<Entry<'_>>, ReadError> {
    let items = input
        .elements()
        .ok_or(ReadError::Unreadable("input is not a string or a list that can be read"))?;
    items
        .into_iter()
        .map(|node| {
            let item =
                node.object().ok_or(ReadError::Unreadable("an input item is not an object"))?;
            let speaker = match item.str("type").as_deref() {
                None | Some("message") => Speaker::of_role(item.str("role").as_deref()),
                Some(_) => Speaker::Other,
            };
            Ok(Entry { node, speaker, content: item.get("content") })
        })
        .collect()
}

fn system_seat(root: &Object<'_>, ours: &[&str]) -> SystemSeat {
    match root.slot("instructions") {
        Some(node) if node.is_string() => {
            TextSeat::of(node, PART).map_or(SystemSeat::Nowhere, SystemSeat::Text)
        }
        Some(node) if !node.is_null() => SystemSeat::Nowhere,
        // A stored prompt brings instructions of its own, which a member here would displace.
        _ if root.get("prompt").is_some() => SystemSeat::Taken,
        Some(null) => SystemSeat::NullInstructions(null.span()),
        None => SystemSeat::NewInstructions {
            at: root.open,
            alone: root.members.iter().all(|member| ours.contains(&member.key.as_ref())),
        },
    }
}

fn tools_offered(root: &Object<'_>) -> Vec<String> {
    let tools = root.elements("tools").unwrap_or_default();
    let named = |tool: Object<'_>| tool.string("name").or_else(|| tool.string("type"));
    tools.iter().filter_map(Node::object).filter_map(named).collect()
}

fn tool_events(item: &Object<'_>) -> Vec<ToolEvent> {
    let kind = item.str("type").unwrap_or_default();
    let id = || item.string("call_id").or_else(|| item.string("id")).unwrap_or_default();
    match kind.as_ref() {
        "mcp_call" => call(item).map(ToolEvent::Call).into_iter().collect(),
        _ if kind.ends_with("_call_output") => vec![ToolEvent::Result(ToolItem {
            call_id: id(),
            name: item.string("name").unwrap_or_default(),
            input: String::new(),
            output: Some(item.get("output").map(any_text).unwrap_or_default()),
            is_error: item.bool("is_error"),
        })],
        _ => call(item).map(ToolEvent::Call).into_iter().collect(),
    }
}

/// The tool call an item is: a function's, a custom tool's, an MCP server's (which brings its own
/// output), or one the client runs on its machine (shell, computer, patch).
pub(super) fn call(item: &Object<'_>) -> Option<ToolItem> {
    let kind = item.str("type")?;
    let (name, input) = match kind.as_ref() {
        "function_call" | "mcp_call" => (item.string("name"), item.get("arguments")),
        "custom_tool_call" => (item.string("name"), item.get("input")),
        "local_shell_call" | "shell_call" | "computer_call" => {
            (Some(kind.to_string()), item.get("action"))
        }
        "apply_patch_call" => (Some(kind.to_string()), item.get("operation")),
        _ => return None,
    };
    let error = item.get("error");
    Some(ToolItem {
        call_id: item.string("call_id").or_else(|| item.string("id")).unwrap_or_default(),
        name: name.unwrap_or_default(),
        input: input.map(any_text).unwrap_or_default(),
        output: item.get("output").or(error).map(any_text),
        is_error: error.map(|_| true),
    })
}
