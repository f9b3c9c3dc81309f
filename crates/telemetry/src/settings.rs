//! How logs and traces are configured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        self.into()
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
