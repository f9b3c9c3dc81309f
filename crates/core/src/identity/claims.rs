//! The claims of a verified token, as Envoy's `jwt_authn` filter passes them on.

use serde_json::Value;

use crate::memory::{Owner, check_id};

/// The relevant claims. Envoy has verified the token; the format of the values is not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The user claim; empty, and so refused later, if its value is not an id.
    pub user: Option<String>,
    /// The tenant claim; empty, and so refused later, if its value is not an id.
    pub tenant: Option<String>,
    /// The roles claim: the ids in it. Nothing can be shared with another text.
    pub roles: Vec<String>,
    /// The project claim, where one is configured; empty if its value is not an id.
    pub project: Option<String>,
    /// The agent claim, where one is configured; empty if its value is not an id.
    pub agent: Option<String>,
}

/// The names of the claims that count.
#[derive(Clone, Debug)]
pub struct ClaimNames<'a> {
    /// The user's id.
    pub user: &'a str,
    /// The tenant's id.
    pub tenant: &'a str,
    /// The roles.
    pub roles: &'a str,
    /// The project, if a claim decides it.
    pub project: Option<&'a str>,
    /// The agent, if a claim decides it.
    pub agent: Option<&'a str>,
    /// The issuers whose tokens count; empty: any. With more than one, the tenant includes the issuer, because
    /// a user's id is unique only within its issuer.
    pub issuers: &'a [String],
}

impl Claims {
    /// Reads the claims of these names. The roles claim may be a list or a space-separated string;
    /// both are common. A token of an unknown issuer has no user, and so is refused later.
    #[must_use]
    pub fn read(payload: &Value, names: &ClaimNames<'_>) -> Self {
        let text = |name: &str| match payload.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            // Some issuers use numeric user ids.
            Some(Value::Number(number)) if is_exact(number) => Some(number.to_string()),
            // It must not be treated as absent: an unreadable tenant is not the default tenant.
            Some(_) => Some(String::new()),
        };
        let roles: Vec<&str> = match payload.get(names.roles) {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(all)) => all.split_whitespace().collect(),
            _ => Vec::new(),
        };
        let roles = roles.into_iter().filter(|role| check_id(role).is_ok());
        let roles = roles.map(str::to_owned).collect();
        let [project, agent] = [names.project, names.agent].map(|name| name.and_then(text));
        let (user, tenant) = (text(names.user), text(names.tenant));
        match names.issuers {
            [] => Self { user, tenant, roles, project, agent },
            issuers => {
                let issuer = text("iss").filter(|issuer| issuers.contains(issuer));
                let Some(issuer) = issuer else {
                    return Self { project, agent, ..Self::default() };
                };
                let tenant =
                    if issuers.len() > 1 { Some(of_issuer(tenant, &issuer)) } else { tenant };
                Self { user, tenant, roles, project, agent }
            }
        }
    }
}

/// The tenant within its issuer. Bars in the tenant are doubled, so that no two pairs give the same id.
fn of_issuer(tenant: Option<String>, issuer: &str) -> String {
    let tenant = tenant.unwrap_or_else(|| Owner::DEFAULT_TENANT.to_owned());
    // It must not become an id by what is added.
    if tenant.is_empty() { tenant } else { format!("{}|{issuer}", tenant.replace('|', "||")) }
}

/// Whether a number is exact. Envoy passes numbers as doubles, so from 2^53 on two ids may have
/// become equal.
fn is_exact(number: &serde_json::Number) -> bool {
    number.as_i64().is_some_and(|whole| whole.unsigned_abs() < 1 << 53)
}
