//! The format of all stories: sessions of turns, and the body of the request with which a client sends a turn.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::parse;

/// A conversation of one day.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Session {
    /// When its first turn begins.
    #[serde(deserialize_with = "parse::time")]
    pub(crate) date: Timestamp,
    #[serde(deserialize_with = "parse::objects")]
    pub(crate) turns: Vec<Turn>,
}

/// A message of the user and the assistant's reply to it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Turn {
    pub(crate) user: String,
    pub(crate) assistant: String,
}

/// The body of a Chat Completions request.
pub(crate) fn request(before: &[Turn], user: &str) -> Vec<u8> {
    json!({"model": "m", "messages": messages(before, user)}).to_string().into_bytes()
}

/// The messages of a conversation.
pub(crate) fn messages(before: &[Turn], user: &str) -> Vec<Value> {
    let before = before
        .iter()
        .flat_map(|turn| [message("user", &turn.user), message("assistant", &turn.assistant)]);
    before.chain([message("user", user)]).collect()
}

pub(crate) fn message(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}
