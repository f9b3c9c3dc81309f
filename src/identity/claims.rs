//! What a verified token says, as Envoy's `jwt_authn` filter hands it on.

use serde_json::Value;

/// The claims that matter here. Envoy has verified the token; nothing in it
/// was checked for form yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The user claim; empty, and so refused, when it is there and no id.
    pub user: Option<String>,
    /// The tenant claim; empty, and so refused, when it is there and no id.
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
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            // Some issuers number their users.
            Some(Value::Number(number)) if is_exact(number) => Some(number.to_string()),
            // It must not pass for absent: a tenant that cannot be read is not the default one.
            Some(_) => Some(String::new()),
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

/// Whether a number is the one in the token. Envoy hands numbers on as doubles, so that from 2^53
/// on the ids of two users may have become one.
fn is_exact(number: &serde_json::Number) -> bool {
    number.as_i64().is_some_and(|whole| whole.unsigned_abs() < 1 << 53)
}
