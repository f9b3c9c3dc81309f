//! What a verified token says, as Envoy's `jwt_authn` filter hands it on.

use serde_json::Value;

/// The claims that matter here. Envoy has verified the token; nothing in it
/// was checked for form yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The user claim.
    pub user: Option<String>,
    /// The tenant claim.
    pub tenant: Option<String>,
    /// The roles claim.
    pub roles: Vec<String>,
}

impl Claims {
    /// Reads the claims of these names. A roles claim may be a list or a
    /// space-separated string, both are common.
    #[must_use]
    pub fn read(payload: &Value, user: &str, tenant: &str, roles: &str) -> Self {
        let text = |name: &str| match payload.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            // Some issuers number their users.
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let roles = match payload.get(roles) {
            Some(Value::Array(all)) => {
                all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(Value::String(all)) => all.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Self { user: text(user), tenant: text(tenant), roles }
    }
}
