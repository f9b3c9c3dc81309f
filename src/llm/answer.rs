//! The words of a Chat Completion.

use serde::Deserialize;

use super::LlmError;

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Content>,
}

/// A string, or parts as some servers answer.
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

/// What choice 0 says.
pub(super) fn words(body: &[u8]) -> Result<String, LlmError> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|_| LlmError::Unreadable("not a chat completion"))?;
    let choice =
        completion.choices.into_iter().next().ok_or(LlmError::Unreadable("it has no choice"))?;
    match choice.message.content {
        Some(Content::Text(text)) => Ok(text),
        Some(Content::Parts(parts)) => Ok(parts.into_iter().map(|part| part.text).collect()),
        None => Err(LlmError::Unreadable("it has no content")),
    }
}
