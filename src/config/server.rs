//! What memgate offers to the outside beside its addresses: the API's key, logs and traces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The REST API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiConfig {
    /// The environment variable with the key that callers send as `Authorization: Bearer`, at least 32
    /// characters. `/admin/…` answers to nobody without one; `/v1/…` needs one unless `listen.http` is a
    /// loopback address.
    #[schemars(length(min = 1))]
    pub key_env: Option<String>,
}

impl ApiConfig {
    /// The least characters of a key: 128 bits written as hexadecimal digits.
    pub const MIN_KEY_CHARS: usize = 32;
}

/// Logs and traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// The least level that is logged, to standard error.
    pub log: LogLevel,
    /// How a log line is written.
    pub log_format: LogFormat,
    /// Where spans go as OTLP over HTTP, `http://collector:4318/v1/traces` for example; absent: nowhere.
    #[schemars(regex(pattern = "^https?://.+"))]
    pub otlp_endpoint: Option<String>,
}

/// The least level that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What stops memory from working.
    Error,
    /// What went wrong for one exchange.
    Warn,
    /// What happened.
    #[default]
    Info,
    /// Why.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The level's name, as in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// How a log line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}
