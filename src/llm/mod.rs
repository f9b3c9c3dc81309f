//! The client for the helper models: any OpenAI-compatible server, one
//! [`Helper`] a role, each with its own deadline.
//!
//! It must never know what it is asked for: prompts and answers are the
//! caller's. Nothing of either is ever logged. It does not retry; whoever can
//! wait (a job) does that.

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

use crate::remote::{Address, Remote};
pub use error::LlmError;
pub use form::Form;
use form::Refusals;

/// The longest answer that is read, in bytes: a hundred times what the helper
/// models are asked for, so that a mad server cannot fill the memory.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// The longest a server is left alone: how late learning may notice that it is back.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What a helper model is and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The role's name, for metrics and messages.
    pub role: &'static str,
    /// Where Chat Completions are posted to.
    pub address: Address,
    /// The model's name.
    pub model: String,
    /// What the server calls the limit on the answer's length.
    pub limit_name: LimitName,
    /// That limit, in tokens.
    pub max_tokens: u32,
    /// Sampling temperature.
    pub temperature: f32,
    /// The longest an answer may take, connection included.
    pub deadline: Duration,
}

/// What a server calls the limit on the answer's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitName {
    /// vLLM and most others.
    MaxTokens,
    /// OpenAI, whose newer models refuse the old name.
    MaxCompletionTokens,
}

/// One message of a conversation with a helper model.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Message<'a> {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: &'a str,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// We, on how to answer.
    System,
    /// We, on what is asked.
    User,
    /// The model, earlier.
    Assistant,
}

/// What a helper model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// Whether it was stopped by the limit on its length.
    pub cut_off: bool,
}

/// One helper model.
pub struct Helper {
    server: Remote,
    settings: Settings,
    /// Whether the server refuses to be held to a form.
    refusals: Refusals,
}

impl Helper {
    /// A client for a helper model.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, with the cause.
    pub fn new(settings: Settings) -> Result<Self, reqwest::Error> {
        let server = Remote::new(settings.address.clone(), LONGEST_REST)?;
        Ok(Self { server, settings, refusals: Refusals::default() })
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.settings.model
    }

    /// Whether the last requests all failed, so that the server is left alone, or only tried.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.server.rest().is_some()
    }

    /// While the server is left alone: how long until it is tried again, zero when that is due.
    #[must_use]
    pub fn rest(&self) -> Option<Duration> {
        self.server.rest()
    }

    /// Asks the model once, and returns the words of its answer.
    ///
    /// # Errors
    /// [`LlmError`].
    pub async fn ask(&self, instructions: &str, request: &str) -> Result<String, LlmError> {
        self.ask_within(instructions, request, self.settings.deadline).await
    }

    /// The same for somebody who waits so long, and at most for the model's own deadline.
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

    /// Asks for the next words of a conversation, in a form where the server can hold the model to
    /// it. A server that refuses the form is asked again without, and so for a while from then on;
    /// whoever reads the answer cannot count on it.
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
                // Else the request itself was refused.
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
