//! The identity rules of both modes, as one pure function: recall and capture judge the same
//! request separately and must agree.

use crate::{
    identity::{Claims, Identity},
    memory::{InvalidId, Owner},
};

/// Which source of the user's id is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The client, unless Envoy verified a token. For trying things out.
    Development,
    /// Only what Envoy verified.
    Production,
}

/// User ids that a request body may carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyIds<'a> {
    /// `memory_context.user_id`
    pub memory_context: Option<&'a str>,
    /// `metadata.user_id`
    pub metadata: Option<&'a str>,
    /// `user`
    pub user: Option<&'a str>,
}

/// All sources of the user's id in a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credentials<'a> {
    /// All values of the identity header.
    pub header: &'a [&'a [u8]],
    /// The verified token, if there was one.
    pub claims: Option<&'a Claims>,
    /// Ids in the body.
    pub body: BodyIds<'a>,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The user is known.
    Known(Identity),
    /// No id was sent; the request passes without memory.
    Unknown,
    /// The id is contradictory or malformed; the request passes without memory.
    Refused,
    /// An id in the body is invalid; the client gets an error.
    Invalid {
        /// The field, for example `memory_context.user_id`.
        param: &'static str,
        /// The cause.
        cause: InvalidId,
    },
}

/// Applies the rules of a mode. Verified claims win in every mode: behind an Envoy that verifies
/// tokens, even a development memgate must not trust the body.
#[must_use]
pub fn identify(mode: Mode, credentials: &Credentials<'_>) -> Verdict {
    match mode {
        Mode::Development if credentials.claims.is_none() => development(credentials),
        Mode::Development | Mode::Production => production(credentials),
    }
}

/// The first id present wins: the header, then the three fields of the body.
fn development(credentials: &Credentials<'_>) -> Verdict {
    if !credentials.header.is_empty() {
        return from_header(credentials.header);
    }
    let body = credentials.body;
    let places = [
        ("memory_context.user_id", body.memory_context),
        ("metadata.user_id", body.metadata),
        ("user", body.user),
    ];
    for (param, id) in places {
        let Some(id) = id else { continue };
        return match Owner::of_user(id) {
            Ok(owner) => Verdict::Known(Identity { owner, roles: Vec::new() }),
            Err(cause) => Verdict::Invalid { param, cause },
        };
    }
    Verdict::Unknown
}

/// A verified token, else the header that only Envoy can set. Ids in the body are not trusted, but
/// one that differs is a contradiction.
fn production(credentials: &Credentials<'_>) -> Verdict {
    let verdict = match credentials.claims {
        Some(claims) => from_claims(claims),
        None if credentials.header.is_empty() => Verdict::Unknown,
        None => from_header(credentials.header),
    };
    match (&verdict, credentials.body.memory_context) {
        (Verdict::Known(identity), Some(claimed)) if Some(claimed) != identity.owner.user() => {
            Verdict::Refused
        }
        _ => verdict,
    }
}

fn from_claims(claims: &Claims) -> Verdict {
    // A token without a user is not an anonymous user; it contradicts the configuration.
    let Some(user) = &claims.user else { return Verdict::Refused };
    let tenant = claims.tenant.as_deref().unwrap_or(Owner::DEFAULT_TENANT);
    match Owner::new(tenant, user) {
        Ok(owner) => Verdict::Known(Identity { owner, roles: claims.roles.clone() }),
        Err(_) => Verdict::Refused,
    }
}

/// Two different headers may be an attack, so both are refused.
fn from_header(values: &[&[u8]]) -> Verdict {
    let Some(first) = values.first() else { return Verdict::Unknown };
    if values.iter().any(|value| value != first) {
        return Verdict::Refused;
    }
    let owner = std::str::from_utf8(first).ok().and_then(|id| Owner::of_user(id).ok());
    match owner {
        Some(owner) => Verdict::Known(Identity { owner, roles: Vec::new() }),
        None => Verdict::Refused,
    }
}
