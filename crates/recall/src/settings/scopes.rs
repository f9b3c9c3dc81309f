//! The `memory.scopes:` section: whose memories a request is given besides the user's own, and how many of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memories that a request is given besides the user's own, and the limit of each scope. The user's own are limited by
/// `default_retrieval_limit` or the request's. Those of the agent and of the organisation come beside them; a request that
/// asks for fewer gets no more of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScopesConfig {
    /// Whether a request is also given what others of the tenant share: memories of the organisation and of the
    /// request's agent, and those that other users share. A reload can only switch it off.
    pub shared: bool,
    /// Who may make a memory shared or public, or change what is. A reload cannot open it to users.
    pub publish: Publish,
    /// Maximum number of presented memories of the request's session, where `shared` is on.
    #[schemars(range(max = 50))]
    pub session: usize,
    /// Maximum number of presented memories of the request's agent.
    #[schemars(range(max = 50))]
    pub agent: usize,
    /// Maximum number of presented memories of the organisation, those that other users share included.
    #[schemars(range(max = 50))]
    pub organisation: usize,
}

/// Who may make memories shared or public.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Publish {
    /// Users their own, and keys.
    #[default]
    Users,
    /// Only keys that are not bound to one user.
    Keys,
}

impl Default for ScopesConfig {
    fn default() -> Self {
        Self { shared: false, publish: Publish::Users, session: 10, agent: 3, organisation: 5 }
    }
}
