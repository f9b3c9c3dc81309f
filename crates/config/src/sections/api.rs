//! The `api:` section: the API key of the configuration, and limits. The `audit:` section.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The REST API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiConfig {
    /// Environment variable that holds an API key with the scope admin, which callers send as
    /// `Authorization: Bearer`; at least 32 characters. Further keys are made by `memgate key
    /// create`. With or without it, `/admin/…` requires a key, and `/v1/…` is open only on loopback
    /// in development mode without this key.
    #[schemars(length(min = 1))]
    pub key_env: Option<String>,
    /// Maximum number of requests per second with one key; twice as many at once. 0: no limit.
    #[schemars(range(min = 0, max = 1000000))]
    pub requests_per_second: u32,
    /// Maximum number of requests per second of one user whose verified identity comes from Envoy; twice as many at once.
    /// 0: no limit.
    #[schemars(range(min = 0, max = 1000000))]
    pub user_requests_per_second: u32,
}

impl Default for ApiConfig {
    fn default() -> Self {
        Self { key_env: None, requests_per_second: 1000, user_requests_per_second: 20 }
    }
}

impl ApiConfig {
    /// Minimum length of a key: 128 bits as hexadecimal digits.
    pub(crate) const MIN_KEY_CHARS: usize = 32;
}

/// The log of who changed what. It holds ids and no content, and outlives the memories of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// Days for which entries are kept.
    #[schemars(range(min = 1, max = 36500))]
    pub retention_days: u32,
    /// Maximum number of entries; the oldest are removed. An entry has about 200 bytes.
    #[schemars(range(min = 1000, max = 100000000))]
    pub max_entries: u32,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { retention_days: 365, max_entries: 1_000_000 }
    }
}

impl AuditConfig {
    /// Age at which entries are removed.
    #[must_use]
    pub fn retention(&self) -> Duration {
        Duration::from_secs(24 * 3600 * u64::from(self.retention_days))
    }
}
