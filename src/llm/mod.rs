//! The client for the helper models: any OpenAI-compatible server, one
//! [`Helper`] a role, each with its own deadline and circuit breaker.
//!
//! It must never know what it is asked for: prompts and answers are the
//! caller's. Nothing of either is ever logged. It does not retry; whoever can
//! wait (a job) does that.

mod answer;
mod breaker;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde_json::json;

use breaker::Breaker;

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

/// Why a helper model gave no answer. Holds nothing of what was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// Asking is pointless for now: the last requests all failed.
    #[error("not asked: the last requests failed; next try in {} s", wait.as_secs())]
    Resting {
        /// How long it is left alone.
        wait: Duration,
    },
    /// No answer within the deadline.
    #[error("no answer within {} ms", after.as_millis())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// The server cannot be reached, or hung up.
    #[error("unreachable: {0}")]
    Unreachable(&'static str),
    /// The server answered with an error.
    #[error("status {0}")]
    Status(u16),
    /// The answer is longer than [`MAX_ANSWER_BYTES`].
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
    /// The answer is no Chat Completion.
    #[error("unreadable answer: {0}")]
    Unreadable(&'static str),
}

impl LlmError {
    /// Whether the server itself is in trouble; asking it more makes that worse.
    fn is_trouble(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::Unreachable(_) => true,
            Self::Status(status) => *status == 429 || *status >= 500,
            Self::Resting { .. } | Self::TooLarge | Self::Unreadable(_) => false,
        }
    }

    /// Whether the same request would fail the same way for ever.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Status(400..=404 | 413 | 422))
    }
}

/// One helper model.
pub struct Helper {
    http: reqwest::Client,
    settings: Settings,
    breaker: Breaker,
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
        Ok(Self { http, settings, breaker: Breaker::default() })
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
        let permit =
            self.breaker.enter(Instant::now()).map_err(|wait| LlmError::Resting { wait })?;
        let outcome = self.post(instructions, request).await;
        match &outcome {
            Err(error) if error.is_trouble() => permit.failed(Instant::now()),
            _ => permit.succeeded(),
        }
        outcome
    }

    async fn post(&self, instructions: &str, request: &str) -> Result<String, LlmError> {
        let Settings { model, temperature, max_tokens, .. } = &self.settings;
        let mut body = json!({
            "model": model,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": request},
            ],
            "temperature": temperature,
            "stream": false,
        });
        let limit = match self.settings.limit_name {
            LimitName::MaxTokens => "max_tokens",
            LimitName::MaxCompletionTokens => "max_completion_tokens",
        };
        body[limit] = json!(max_tokens);
        let mut post = self.http.post(&self.settings.url).json(&body);
        if let Some(key) = &self.settings.api_key {
            post = post.bearer_auth(key);
        }
        let response = post.send().await.map_err(|error| self.describe(&error))?;
        if !response.status().is_success() {
            return Err(LlmError::Status(response.status().as_u16()));
        }
        answer::words(&self.read(response).await?)
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
