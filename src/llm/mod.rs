//! The client for the helper models: any OpenAI-compatible server, one
//! [`Helper`] a role, each with its own deadline and circuit breaker.
//!
//! It must never know what it is asked for: prompts and answers are the
//! caller's. Nothing of either is ever logged. It does not retry; whoever can
//! wait (a job) does that.

mod answer;
mod breaker;
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

use breaker::Breaker;
pub use error::LlmError;
pub use form::Form;
use form::Refusals;

/// The longest answer that is read, in bytes: a hundred times what the helper
/// models are asked for, so that a mad server cannot fill the memory.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// How long the connection itself may take; the rest of the deadline is the model's.
const CONNECT: Duration = Duration::from_secs(5);

/// What a helper model is and how it is spoken to.
#[derive(Clone)]
pub struct Settings {
    /// The role's name, for metrics and messages.
    pub role: &'static str,
    /// Where Chat Completions are posted to.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
    /// What the server calls the limit on the answer's length.
    pub limit_name: LimitName,
    /// That limit, in tokens.
    pub max_tokens: u32,
    /// Sampling temperature.
    pub temperature: f32,
    /// The longest an answer may take, connection included.
    pub deadline: Duration,
}

impl fmt::Debug for Settings {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("role", &self.role)
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
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
    http: reqwest::Client,
    settings: Settings,
    breaker: Breaker,
    /// Whether the server refuses to be held to a form.
    refusals: Refusals,
}

impl Helper {
    /// A client for a helper model. Needs the process's TLS provider installed.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, with the cause.
    pub fn new(settings: Settings) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT.min(settings.deadline))
            .timeout(settings.deadline)
            // What was asked of one server, with its key, is not told to another.
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(4)
            .user_agent(concat!("memgate/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, settings, breaker: Breaker::default(), refusals: Refusals::default() })
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.settings.model
    }

    /// Asks the model once, and returns the words of its answer.
    ///
    /// # Errors
    /// [`LlmError`].
    pub async fn ask(&self, instructions: &str, request: &str) -> Result<String, LlmError> {
        let messages = [
            Message { role: Role::System, content: instructions },
            Message { role: Role::User, content: request },
        ];
        Ok(self.converse(&messages, None).await?.text)
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
        let Some(form) = form.filter(|_| !self.refusals.are_known(Instant::now())) else {
            return self.once(messages, None).await;
        };
        match self.once(messages, Some(form)).await {
            Err(error) if error.may_refuse_form() => {
                let answer = self.once(messages, None).await?;
                // Else the request itself was refused.
                self.refusals.remember(Instant::now());
                tracing::debug!(role = self.settings.role, "the server takes no response_format");
                Ok(answer)
            }
            outcome => outcome,
        }
    }

    /// One request, if the server is not left alone just now.
    async fn once(
        &self,
        messages: &[Message<'_>],
        form: Option<&Form>,
    ) -> Result<Answer, LlmError> {
        let permit =
            self.breaker.enter(Instant::now()).map_err(|wait| LlmError::Resting { wait })?;
        let outcome = self.post(messages, form).await;
        match &outcome {
            Err(error) if error.is_trouble() => permit.failed(Instant::now()),
            _ => permit.succeeded(),
        }
        outcome
    }

    async fn post(
        &self,
        messages: &[Message<'_>],
        form: Option<&Form>,
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
        let mut post = self.http.post(&self.settings.url).json(&body);
        if let Some(key) = &self.settings.api_key {
            post = post.bearer_auth(key);
        }
        let response = post.send().await.map_err(|error| self.describe(&error))?;
        if !response.status().is_success() {
            return Err(LlmError::Status(response.status().as_u16()));
        }
        answer::read(&self.read(response).await?)
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Vec<u8>, LlmError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.describe(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(LlmError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// The kind of an error only: its text holds the address and more.
    fn describe(&self, error: &reqwest::Error) -> LlmError {
        if error.is_timeout() {
            LlmError::Timeout { after: self.settings.deadline }
        } else if error.is_connect() {
            LlmError::Unreachable("no connection")
        } else {
            LlmError::Unreachable("the connection broke")
        }
    }
}

impl fmt::Debug for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Helper").field(&self.settings).finish()
    }
}
