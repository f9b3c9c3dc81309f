//! Parses a Chat Completion.

use serde::Deserialize;

use crate::llm::{Answer, LlmError};

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Content>,
}

/// A string, or a list of parts as some servers send it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

/// Reads the text of choice 0.
pub(super) fn read(body: &[u8]) -> Result<Answer, LlmError> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|_| LlmError::Unreadable("not a chat completion"))?;
    let choice = completion.choices.into_iter().next().ok_or(LlmError::Unreadable("no choices"))?;
    let text = match choice.message.content {
        Some(Content::Text(text)) => text,
        Some(Content::Parts(parts)) => parts.into_iter().map(|part| part.text).collect(),
        None => return Err(LlmError::Unreadable("no content")),
    };
    Ok(Answer { text, cut_off: choice.finish_reason.as_deref() == Some("length") })
}
