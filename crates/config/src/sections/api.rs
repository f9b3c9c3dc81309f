//! The `api:` section: the API key.

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
