//! The client for helper models: any OpenAI-compatible server, one [`Helper`] per role, each with
//! its own deadline.
//!
//! Prompts and answers belong to the caller and are never logged. This module does not retry;
//! callers that can wait (jobs) do.

mod answer;
mod error;
mod form;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::json;

use crate::client::{Address, Remote};
pub use error::LlmError;
pub use form::Form;
use form::Refusals;

/// Maximum size of a response, in bytes: a hundred times what helper models are asked for, so that
/// a faulty server cannot fill the memory.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Maximum cooldown of a failing server, which bounds how late its recovery is noticed.
const MAX_COOLDOWN: Duration = Duration::from_secs(60);

/// Settings of a helper model.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The role's name, for metrics and messages.
    pub role: &'static str,
    /// The Chat Completions endpoint.
    pub address: Address,
    /// The model's name.
    pub model: String,
    /// Name of the token limit in the server's API.
    pub limit_name: LimitName,
    /// Maximum number of tokens of an answer.
    pub max_tokens: u32,
    /// Sampling temperature.
    pub temperature: f32,
    /// Timeout of a request, including the connection.
    pub deadline: Duration,
}

/// Name of the token limit in a server's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitName {
    /// vLLM and most others.
    MaxTokens,
    /// OpenAI, whose newer models reject the old name.
    MaxCompletionTokens,
}

/// One message of a conversation with a helper model.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Message<'a> {
    /// Its author.
    pub role: Role,
    /// Its text.
    pub content: &'a str,
}

/// Author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// memgate's instructions.
    System,
    /// memgate's request.
    User,
    /// An earlier answer of the model.
    Assistant,
}

/// The answer of a helper model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Whether the token limit truncated it.
    pub cut_off: bool,
}

/// One helper model.
pub struct Helper {
    server: Remote,
    settings: Settings,
    /// Whether the server rejects structured output.
    refusals: Refusals,
}

impl Helper {
    /// Creates a client.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, with the cause.
    pub fn new(settings: Settings) -> Result<Self, reqwest::Error> {
        let server = Remote::new(settings.address.clone(), MAX_COOLDOWN)?;
        Ok(Self { server, settings, refusals: Refusals::default() })
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.settings.model
    }

    /// Whether the circuit breaker is open, because the last requests all failed.
    #[must_use]
    pub fn is_cooling_down(&self) -> bool {
        self.server.cooldown().is_some()
    }

    /// The remaining cooldown while the circuit breaker is open; zero when a trial request is due.
    #[must_use]
    pub fn cooldown(&self) -> Option<Duration> {
        self.server.cooldown()
    }

    /// Sends one request and returns the text of the answer.
    ///
    /// # Errors
    /// [`LlmError`].
    pub async fn ask(&self, instructions: &str, request: &str) -> Result<String, LlmError> {
        self.ask_within(instructions, request, self.settings.deadline).await
    }

    /// As [`Helper::ask`], with a shorter deadline if `patience` is below the model's own.
    ///
    /// # Errors
    /// [`LlmError`].
    pub async fn ask_within(
        &self,
        instructions: &str,
        request: &str,
        within: Duration,
    ) -> Result<String, LlmError> {
        let messages = [
            Message { role: Role::System, content: instructions },
            Message { role: Role::User, content: request },
        ];
        let within = within.min(self.settings.deadline);
        Ok(self.once(&messages, None, within).await?.text)
    }

    /// Continues a conversation, with structured output if the server supports it. A server that
    /// rejects the format is asked again without it, and from then on for a while; the caller
    /// cannot rely on the format.
    ///
    /// # Errors
    /// [`LlmError`].
    pub async fn converse(
        &self,
        messages: &[Message<'_>],
        form: Option<&Form>,
    ) -> Result<Answer, LlmError> {
        let within = self.settings.deadline;
        let Some(form) = form.filter(|_| !self.refusals.are_known(Instant::now())) else {
            return self.once(messages, None, within).await;
        };
        match self.once(messages, Some(form), within).await {
            Err(error) if error.may_refuse_form() => {
                let answer = self.once(messages, None, within).await?;
                // Otherwise the request itself was rejected.
                self.refusals.remember(Instant::now());
                tracing::debug!(role = self.settings.role, "the server takes no response_format");
                Ok(answer)
            }
            outcome => outcome,
        }
    }

    async fn once(
        &self,
        messages: &[Message<'_>],
        form: Option<&Form>,
        within: Duration,
    ) -> Result<Answer, LlmError> {
        let Settings { model, temperature, max_tokens, .. } = &self.settings;
        let mut body = json!({
            "model": model,
            "messages": messages,
            "temperature": temperature,
            "stream": false,
        });
        let limit = match self.settings.limit_name {
            LimitName::MaxTokens => "max_tokens",
            LimitName::MaxCompletionTokens => "max_completion_tokens",
        };
        body[limit] = json!(max_tokens);
        if let Some(form) = form {
            body["response_format"] = form.as_response_format();
        }
        let answer = self.server.post(&body, within, MAX_ANSWER_BYTES).await?;
        answer::read(&answer)
    }
}

impl fmt::Debug for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Helper").field(&self.settings).finish()
    }
}
