//! How a request's user and signals are read from headers and metadata.

mod anonymous;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use anonymous::AnonymousSessionsConfig;
use memgate_core::identity::ClaimNames;

/// How users are identified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IdentityConfig {
    /// Which source of the user's id is trusted. Verified claims win in every mode. A reload can
    /// only tighten this.
    pub mode: IdentityMode,
    /// The trusted header. In production Envoy must remove this header from client requests.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub header: String,
    /// Whether the header identifies a user where there is no verified token. Switch it off where every
    /// request has a token. A reload can only switch it off.
    pub header_enabled: bool,
    /// A header that Envoy sets to the request's project. Then the client's own project does not count,
    /// and Envoy must remove this header from client requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub project_header: Option<String>,
    /// A header that Envoy sets to the request's agent. Then the client's own agent does not count, and Envoy must
    /// remove this header from client requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub agent_header: Option<String>,
    /// Where Envoy puts the verified token. If there is one, only its claims count.
    pub jwt: JwtConfig,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self {
            mode: IdentityMode::Production,
            header: "x-authz-user-id".into(),
            header_enabled: true,
            project_header: None,
            agent_header: None,
            jwt: JwtConfig::default(),
        }
    }
}

/// Which source of the user's id is trusted.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "lowercase")]
pub enum IdentityMode {
    /// The client: the header, else ids in the body. For use on one machine only.
    Development,
    /// Envoy: the token's claims, else the trusted header. Ids in the body are ignored.
    Production,
}

impl IdentityMode {
    /// The mode's name in the configuration, `/readyz` and `/metrics`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Where Envoy's dynamic metadata holds the payload of a verified token, and which claims are used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JwtConfig {
    /// Metadata namespace.
    #[schemars(length(min = 1))]
    pub namespace: String,
    /// Metadata key of the payload: `payload_in_metadata` of Envoy's provider.
    #[schemars(length(min = 1))]
    pub payload: String,
    /// Claim that holds the user's id.
    #[schemars(length(min = 1))]
    pub user_claim: String,
    /// Claim that holds the tenant's id; a token without it belongs to the tenant `default`.
    #[schemars(length(min = 1))]
    pub tenant_claim: String,
    /// Claim that holds the roles: a list, or one string separated by spaces.
    #[schemars(length(min = 1))]
    pub roles_claim: String,
    /// Claim that holds the project. Then the client's own project does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub project_claim: Option<String>,
    /// Claim that holds the agent. Then the client's own agent does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub agent_claim: Option<String>,
    /// The issuers whose tokens count; empty: every issuer that Envoy accepts. With more than one, users
    /// of the same id but different issuers are different users.
    pub issuers: Vec<String>,
}

impl JwtConfig {
    /// The claims that count.
    #[must_use]
    pub fn claims(&self) -> ClaimNames<'_> {
        ClaimNames {
            user: &self.user_claim,
            tenant: &self.tenant_claim,
            roles: &self.roles_claim,
            project: self.project_claim.as_deref(),
            agent: self.agent_claim.as_deref(),
            issuers: &self.issuers,
        }
    }
}

impl Default for JwtConfig {
    fn default() -> Self {
        Self {
            namespace: "envoy.filters.http.jwt_authn".into(),
            payload: "jwt_payload".into(),
            user_claim: "sub".into(),
            tenant_claim: "tenant".into(),
            roles_claim: "roles".into(),
            project_claim: None,
            agent_claim: None,
            issuers: Vec::new(),
        }
    }
}

/// Where earlier filters put their signals about a request. Signals take precedence over memgate's
/// own rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignalsConfig {
    /// Request headers that carry a signal: `true` or `false`.
    pub headers: SignalHeaders,
    /// Envoy dynamic metadata that carries signals: booleans named `fact`, `tool`, `greeting`,
    /// `personal`.
    pub metadata: SignalMetadata,
}

/// The header of each signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignalHeaders {
    /// Header of the signal that the message asks for a general fact.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub fact: String,
    /// Header of the signal that a tool will answer.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub tool: String,
    /// Header of the signal that the message is only a greeting.
    #[schemars(regex(pattern = "^[a-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub greeting: String,
    /// Header of the signal that the user talks about themselves.
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

/// The dynamic metadata that carries signals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SignalMetadata {
    /// Metadata namespace.
    #[schemars(length(min = 1))]
    pub namespace: String,
}

impl Default for SignalMetadata {
    fn default() -> Self {
        Self { namespace: "memgate.signals".into() }
    }
}
