//! The claims of a verified token, as Envoy's `jwt_authn` filter passes them on.

use serde_json::Value;

/// The relevant claims. Envoy has verified the token; the format of the values is not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The user claim; empty, and so refused later, if its value is not an id.
    pub user: Option<String>,
    /// The tenant claim; empty, and so refused later, if its value is not an id.
    pub tenant: Option<String>,
    /// The roles claim.
    pub roles: Vec<String>,
}

impl Claims {
    /// Reads the claims of these names. The roles claim may be a list or a space-separated string;
    /// both are common.
    #[must_use]
    pub fn read(payload: &Value, user: &str, tenant: &str, roles: &str) -> Self {
        let text = |name: &str| match payload.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            // Some issuers use numeric user ids.
            Some(Value::Number(number)) if is_exact(number) => Some(number.to_string()),
            // It must not be treated as absent: an unreadable tenant is not the default tenant.
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

/// Whether a number is exact. Envoy passes numbers as doubles, so from 2^53 on two ids may have
/// become equal.
fn is_exact(number: &serde_json::Number) -> bool {
    number.as_i64().is_some_and(|whole| whole.unsigned_abs() < 1 << 53)
}
