//! The `api:` and `telemetry:` sections: the API key, logs and traces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The REST API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiConfig {
    /// Environment variable that holds the API key, which callers send as `Authorization: Bearer`;
    /// at least 32 characters. Without a key `/admin/…` is disabled, and `/v1/…` is open only if
    /// `listen.http` is a loopback address.
    #[schemars(length(min = 1))]
    pub key_env: Option<String>,
}

impl ApiConfig {
    /// Minimum length of a key: 128 bits as hexadecimal digits.
    pub const MIN_KEY_CHARS: usize = 32;
}

/// Logs and traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Minimum level of the log lines, which go to standard error.
    pub log: LogLevel,
    /// Format of the log lines.
    pub log_format: LogFormat,
    /// OTLP/HTTP endpoint for spans, for example `http://collector:4318/v1/traces`. Default:
    /// tracing is off.
    #[schemars(regex(pattern = "^https?://.+"))]
    pub otlp_endpoint: Option<String>,
}

/// Minimum level of the log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures that disable memory.
    Error,
    /// Failures that affect one exchange.
    Warn,
    /// Normal events.
    #[default]
    Info,
    /// Decisions and their reasons.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The level's name in the configuration.
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

/// Format of the log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}
