//! The parts of reading a conversation that both dialects share: who speaks, the text of a content, and how
//! a list of entries becomes the conversational part of an [`Ask`]. It does not depend on
//! the field names of a dialect; the readers pass the entries.

use sha2::{Digest, Sha256};

use crate::{
    ask::{Ask, Role, ToolItem, Utterance},
    json::{Node, Object},
};

/// Whose words an entry holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    /// Tool calls and results, unknown roles, items without words.
    Other,
}

impl Speaker {
    pub(super) fn of_role(role: Option<&str>) -> Self {
        match role {
            Some("system" | "developer") => Self::System,
            Some("user") => Self::User,
            Some("assistant") => Self::Assistant,
            _ => Self::Other,
        }
    }
}

/// One message or item, kept small: a conversation may have very many.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) node: Node<'a>,
    pub(super) speaker: Speaker,
    pub(super) content: Option<Node<'a>>,
}

/// A tool call or result in an entry.
pub(super) enum ToolEvent {
    Call(ToolItem),
    /// A result for an earlier call; its `input` is unknown.
    Result(ToolItem),
}

/// Fills in the conversational part of the ask. `instructions` are those from outside the list;
/// `events` reads the tool events of one entry. Gives the place of the last user message back.
pub(super) fn digest(
    ask: &mut Ask,
    entries: &[Entry<'_>],
    instructions: Option<String>,
    events: fn(&Object<'_>) -> Vec<ToolEvent>,
) -> Option<usize> {
    let by_user = |entry: &Entry<'_>| entry.speaker == Speaker::User;
    let last = entries.iter().rposition(by_user);
    ask.user_ordinal =
        entries.iter().filter(|entry| by_user(entry)).count().try_into().unwrap_or(u32::MAX);
    ask.first_user_text = entries.iter().find(|entry| by_user(entry)).map(text_of_entry);
    if let Some(entry) = last.and_then(|last| entries.get(last)) {
        ask.user_text = Some(text_of_entry(entry));
        ask.user_media = entry.content.and_then(media);
        ask.user_name = entry.node.object().and_then(|message| message.string("name"));
    }
    ask.instructions =
        joined(instructions.into_iter().chain(
            entries.iter().filter(|entry| entry.speaker == Speaker::System).map(text_of_entry),
        ));
    let (before, after) = match last {
        Some(last) => {
            (entries.get(..last).unwrap_or_default(), entries.get(last + 1..).unwrap_or_default())
        }
        None => (&[][..], entries),
    };
    ask.history = history(before);
    ask.history_digest = history_digest(before);
    for entry in after {
        for event in entry.node.object().iter().flat_map(events) {
            ask.in_tool_loop |= matches!(event, ToolEvent::Result(_));
            if ask.tool_items.len() < Ask::MAX_TOOL_ITEMS {
                join_event(&mut ask.tool_items, event);
            }
        }
    }
    last
}

fn history(before: &[Entry<'_>]) -> Vec<Utterance> {
    let mut history: Vec<_> = before
        .iter()
        .rev()
        .filter_map(|entry| {
            let role = match entry.speaker {
                Speaker::User => Role::User,
                Speaker::Assistant => Role::Assistant,
                Speaker::System | Speaker::Other => return None,
            };
            Some(Utterance { role, text: text_of_entry(entry) })
                .filter(|said| !said.text.is_empty())
        })
        .take(Ask::MAX_HISTORY)
        .collect();
    history.reverse();
    history
}

fn history_digest(before: &[Entry<'_>]) -> Option<String> {
    let mut hash = None;
    for entry in before.iter().filter(|entry| entry.speaker != Speaker::System) {
        let sent = entry.node.text().as_bytes();
        let hash = hash.get_or_insert_with(Sha256::new);
        hash.update((sent.len() as u64).to_be_bytes());
        hash.update(sent);
    }
    Some(hexadecimal(hash?, 16))
}

/// The first bytes of a hash as hexadecimal digits.
fn hexadecimal(hash: Sha256, bytes: usize) -> String {
    hash.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// Gives a result to the call it answers, by id, or by name where there are no ids.
fn join_event(items: &mut Vec<ToolItem>, event: ToolEvent) {
    match event {
        ToolEvent::Call(call) => items.push(call),
        ToolEvent::Result(result) => {
            let same = |call: &&mut ToolItem| {
                call.output.is_none()
                    && call.call_id == result.call_id
                    && (!call.call_id.is_empty() || call.name == result.name)
            };
            match items.iter_mut().find(same) {
                Some(call) => {
                    call.output = result.output;
                    call.is_error = result.is_error;
                }
                None => items.push(result),
            }
        }
    }
}

fn text_of_entry(entry: &Entry<'_>) -> String {
    entry.content.map(content_text).unwrap_or_default()
}

/// The text of a content: the string, or its text parts joined by newlines. Reasoning, refusals
/// and media are no text.
pub(super) fn content_text(content: Node<'_>) -> String {
    if let Some(text) = content.lossy_str() {
        return text.into_owned();
    }
    joined(content.elements().unwrap_or_default().into_iter().filter_map(part_text))
        .unwrap_or_default()
}

/// The text of one part. Parts without a type, and bare strings, are taken as servers take them.
pub(super) fn part_text(part: Node<'_>) -> Option<String> {
    if let Some(text) = part.lossy_str() {
        return Some(text.into_owned());
    }
    let part = part.object()?;
    match part.str("type").as_deref() {
        None | Some("text" | "input_text" | "output_text") => part.string("text"),
        Some(_) => None,
    }
}

/// Bytes of each end of a media part that are compared: beginnings are alike, ends are not.
const MEDIA_END: usize = 4096;

/// A mark of the media in a content, made of each part's length and ends: requests wait for it.
fn media(content: Node<'_>) -> Option<String> {
    let mut hash = None;
    for node in content.elements().unwrap_or_default() {
        let kind = node.object().and_then(|part| part.str("type")).unwrap_or_default();
        if ["image", "audio", "video", "file"].iter().any(|medium| kind.contains(medium)) {
            let part = node.text().as_bytes();
            let hash = hash.get_or_insert_with(Sha256::new);
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.get(..MEDIA_END).unwrap_or(part));
            hash.update(part.get(part.len().saturating_sub(MEDIA_END)..).unwrap_or_default());
        }
    }
    Some(hexadecimal(hash?, 8))
}

/// A value as text: a string's own, a content's text, or else the JSON as it was sent.
pub(super) fn any_text(node: Node<'_>) -> String {
    match node.elements() {
        Some(parts) if !parts.is_empty() && parts.iter().all(|part| part_text(*part).is_some()) => {
            content_text(node)
        }
        _ => node.lossy_str().map_or_else(|| node.text().to_owned(), Into::into),
    }
}

/// Texts joined by newlines; `None` when there are none.
pub(super) fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.reduce(|mut all, text| {
        all.push('\n');
        all.push_str(&text);
        all
    })
}
