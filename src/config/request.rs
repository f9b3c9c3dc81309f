//! What is read off a request besides its body: who asks, and what earlier filters said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who is asking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IdentityConfig {
    /// Whose word about the user counts. Verified claims win in every mode. A reload may only tighten this.
    pub mode: IdentityMode,
    /// The trusted header. In production Envoy must strip what clients send under this name.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub header: String,
    /// Where Envoy's verified token is found. Where there is one, only its claims count.
    pub jwt: JwtConfig,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self {
            mode: IdentityMode::Production,
            header: "x-authz-user-id".into(),
            jwt: JwtConfig::default(),
        }
    }
}

/// Whose word about the user counts.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum IdentityMode {
    /// The client's: the header, else ids in the body. Only on this machine.
    Development,
    /// Envoy's: the token's claims, else the header; ids in the body are ignored.
    Production,
}

impl IdentityMode {
    /// The mode's name, as in the file, `/readyz` and `/metrics`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Production => "production",
        }
    }
}

/// Where a verified token's payload stands in Envoy's dynamic metadata, and which claims count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JwtConfig {
    /// The metadata namespace.
    #[schemars(length(min = 1))]
    pub namespace: String,
    /// The member that holds the payload: `payload_in_metadata` of Envoy's provider.
    #[schemars(length(min = 1))]
    pub payload: String,
    /// The claim with the user's id.
    #[schemars(length(min = 1))]
    pub user_claim: String,
    /// The claim with the tenant's id; a token without it belongs to the tenant `default`.
    #[schemars(length(min = 1))]
    pub tenant_claim: String,
    /// The claim with the roles: a list, or one string with spaces between.
    #[schemars(length(min = 1))]
    pub roles_claim: String,
}

impl Default for JwtConfig {
    fn default() -> Self {
        Self {
            namespace: "envoy.filters.http.jwt_authn".into(),
            payload: "jwt_payload".into(),
            user_claim: "sub".into(),
            tenant_claim: "tenant".into(),
            roles_claim: "roles".into(),
        }
    }
}

/// Where earlier filters say what they think of a request. What they say comes before our own rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignalsConfig {
    /// Request headers with a signal: `true` or `false`.
    pub headers: SignalHeaders,
    /// Envoy's dynamic metadata with signals: booleans named `fact`, `tool`, `greeting`, `personal`.
    pub metadata: SignalMetadata,
}

/// The header of each signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignalHeaders {
    /// A general fact is asked for.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub fact: String,
    /// A tool will answer.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub tool: String,
    /// Nothing but a greeting.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub greeting: String,
    /// The user speaks of themselves.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub personal: String,
}

impl Default for SignalHeaders {
    fn default() -> Self {
        Self {
            fact: "x-memgate-signal-fact".into(),
            tool: "x-memgate-signal-tool".into(),
            greeting: "x-memgate-signal-greeting".into(),
            personal: "x-memgate-signal-personal".into(),
        }
    }
}

/// The dynamic metadata that holds signals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignalMetadata {
    /// The metadata namespace.
    #[schemars(length(min = 1))]
    pub namespace: String,
}

impl Default for SignalMetadata {
    fn default() -> Self {
        Self { namespace: "memgate.signals".into() }
    }
}
