//! What memgate offers to the outside: addresses, the API's key, logs and traces.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The addresses memgate listens on. Port 0 takes a free one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Listen {
    /// Envoy's side, gRPC: `address:port`.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub grpc: SocketAddr,
    /// REST, `/healthz`, `/readyz` and `/metrics`: `address:port`.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub http: SocketAddr,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            grpc: SocketAddr::from(([127, 0, 0, 1], 50051)),
            http: SocketAddr::from(([127, 0, 0, 1], 8080)),
        }
    }
}

fn address<'de, D: serde::Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    String::deserialize(from)?.parse().map_err(|_| {
        serde::de::Error::custom("must be an IP address and a port, 127.0.0.1:8080 for example")
    })
}

/// The REST API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiConfig {
    /// The environment variable with the key that callers of `/v1/…` send as `Authorization: Bearer`.
    /// Required unless `listen.http` is a loopback address.
    #[schemars(length(min = 1))]
    pub key_env: Option<String>,
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
