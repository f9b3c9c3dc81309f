//! The helper models: OpenAI-compatible servers, one entry per role.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A helper language model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalModel {
    /// Kind of server.
    pub llm_provider: LlmProvider,
    /// Use of the model.
    pub model_role: ModelRole,
    /// Address of the server.
    pub llm_endpoint: Endpoint,
    /// Model name sent in requests.
    #[schemars(length(min = 1))]
    pub llm_model_name: String,
    /// Timeout of a request, in seconds.
    #[serde(default = "ExternalModel::default_timeout")]
    #[schemars(range(min = 1, max = 600))]
    pub llm_timeout_seconds: u64,
    /// Maximum number of tokens in a reply. A fact takes about 150; facts beyond the limit are
    /// lost.
    #[serde(default = "ExternalModel::default_max_tokens")]
    #[schemars(range(min = 1, max = 32768))]
    pub max_tokens: u32,
    /// Sampling temperature.
    #[serde(default = "ExternalModel::default_temperature")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: f32,
}

impl ExternalModel {
    fn default_timeout() -> u64 {
        30
    }

    fn default_max_tokens() -> u32 {
        2000
    }

    fn default_temperature() -> f32 {
        0.1
    }

    /// URL of the Chat Completions endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        self.llm_endpoint.url("/v1/chat/completions")
    }

    /// Timeout of a request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.llm_timeout_seconds)
    }
}

/// Kind of model server. Both speak Chat Completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LlmProvider {
    /// vLLM and other servers that accept `max_tokens`.
    Vllm,
    /// OpenAI, which expects `max_completion_tokens`.
    Openai,
}

/// Use of a helper model.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Rewrites queries that depend on earlier messages; also used by `memory.query.hyde` and
    /// `memory.query.self_query`.
    MemoryRewrite,
    /// Extracts facts from conversations.
    MemoryExtraction,
}

impl ModelRole {
    /// The role's name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Address of a model server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Host name or IP address.
    #[schemars(length(min = 1))]
    pub address: String,
    /// Port.
    #[schemars(range(min = 1))]
    pub port: u16,
    /// `http` or `https`; certificates are always verified.
    #[serde(default)]
    pub scheme: Scheme,
    /// URL path. Default: `/v1/chat/completions` for a language model, `/v1/embeddings` for an
    /// embedding model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^/"))]
    pub path: Option<String>,
    /// Environment variable that holds the server's API key. Default: no key is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub api_key_env: Option<String>,
}

impl Endpoint {
    /// The server's API key from the environment, if one is configured.
    #[must_use]
    pub fn api_key(&self) -> Option<String> {
        // The check at load time has made sure that it is set.
        let key = std::env::var(self.api_key_env.as_ref()?).ok()?;
        Some(key.trim().to_owned())
    }

    /// URL for requests; `usual_path` is used if no path is configured.
    #[must_use]
    pub fn url(&self, usual_path: &str) -> String {
        let Self { address, port, .. } = self;
        let path = self.path.as_deref().unwrap_or(usual_path);
        // An IPv6 address needs brackets before a port.
        let bare_v6 = address.contains(':') && !address.starts_with('[');
        let host = if bare_v6 { format!("[{address}]") } else { address.clone() };
        format!("{}://{host}:{port}{path}", self.scheme.as_str())
    }
}

/// Whether the connection uses TLS.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Plaintext.
    #[default]
    Http,
    /// TLS.
    Https,
}

impl Scheme {
    /// The scheme's name in a URL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_url_also_with_an_ipv6_address() {
        let mut endpoint = Endpoint {
            address: "qwen".into(),
            port: 8000,
            scheme: Scheme::Http,
            path: None,
            api_key_env: None,
        };
        assert_eq!(endpoint.url("/v1/embeddings"), "http://qwen:8000/v1/embeddings");
        endpoint.address = "::1".into();
        endpoint.scheme = Scheme::Https;
        endpoint.path = Some("/x".into());
        assert_eq!(endpoint.url("/v1/embeddings"), "https://[::1]:8000/x");
    }
}
