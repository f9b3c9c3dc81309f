//! The caller of an operation: who it is, and what it may do to whose memories.

use axum::http::{Extensions, HeaderMap, StatusCode};

use crate::api::{ApiError, Whose};
use memgate_access::{Actor, Bound, Digest, Scope, Scopes};
use memgate_core::memory::Owner;

/// Maximum length of a stored request id.
const MAX_REQUEST_ID: usize = 128;

/// An API key that no table holds. Only its digest is kept.
#[derive(Clone)]
pub struct Key(pub(super) Digest);

impl Key {
    /// Creates a key from its text.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(Digest::of(key))
    }
}

/// The caller of an operation.
#[derive(Clone, Debug)]
pub struct Caller {
    actor: Actor,
    scopes: Scopes,
    bound: Bound,
    /// Whether requests need not name the user.
    verified: bool,
    request_id: Option<String>,
}

impl Caller {
    pub(super) fn new(actor: Actor, scopes: Scopes, bound: Bound) -> Self {
        Self { actor, scopes, bound, verified: false, request_id: None }
    }

    /// A user whose identity was verified by the gateway with this key.
    pub(super) fn verified(owner: Owner, key: i64) -> Self {
        let scopes = Scopes::new([Scope::Read, Scope::Write]);
        Self { verified: true, ..Self::new(Actor::User(key), scopes, Bound::One(owner)) }
    }

    /// The command line, on a data folder that it has locked.
    #[must_use]
    pub fn command_line() -> Self {
        Self::new(Actor::CommandLine, Scopes::new([Scope::Admin]), Bound::All)
    }

    /// The caller of a request, which has this scope.
    ///
    /// # Errors
    /// 401 without a key, 403 for a key without the scope.
    pub(in crate::api) fn permitted(of: &Extensions, scope: Scope) -> Result<Self, ApiError> {
        let Some(caller) = of.get::<Self>() else { return Err(key_required()) };
        if caller.scopes.permit(scope) {
            return Ok(caller.clone());
        }
        if caller.actor == Actor::Loopback {
            return Err(key_required());
        }
        let message = format!("this key does not have the scope {}", scope.name());
        Err(ApiError::new(StatusCode::FORBIDDEN, "insufficient_scope", message))
    }

    /// Keeps the caller's `x-request-id`, if it can be stored.
    pub(super) fn for_request(self, headers: &HeaderMap) -> Self {
        let id = headers.get("x-request-id").and_then(|value| value.to_str().ok());
        let id = id.filter(|id| (1..=MAX_REQUEST_ID).contains(&id.len()));
        Self { request_id: id.map(str::to_owned), ..self }
    }

    /// The permitted scopes.
    pub(in crate::api) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Whose memories it reaches.
    pub(in crate::api) fn bound(&self) -> &Bound {
        &self.bound
    }

    /// Who it is, for the audit log.
    pub(in crate::api) fn actor(&self) -> Actor {
        self.actor
    }

    /// The request id, for the audit log and the history of memories.
    pub(in crate::api) fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }

    /// The owner that a request names.
    ///
    /// # Errors
    /// 400 for an invalid id; 404 for a user whose memories are out of reach, as for one that does
    /// not exist.
    pub(in crate::api) fn owner(&self, whose: &Whose) -> Result<Owner, ApiError> {
        let owner = whose.owner()?;
        if self.bound.reaches(&owner) { Ok(owner) } else { Err(ApiError::no_such("memory")) }
    }

    /// Whether a user's memories are within reach.
    pub(in crate::api) fn reaches(&self, owner: &Owner) -> bool {
        self.bound.reaches(owner)
    }

    /// Members that the request need not have: the tenant that the caller is bound to, and the user
    /// if Envoy verified the identity.
    pub(in crate::api) fn defaults(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let user = self.bound.user().filter(|_| self.verified).map(|user| ("user_id", user));
        let tenant = self.bound.tenant().map(|tenant| ("tenant_id", tenant));
        user.into_iter().chain(tenant)
    }
}

/// No key was sent. None is configured either, so the caller may not know of any.
pub(super) fn key_required() -> ApiError {
    let message = "an API key is required; create one with `memgate key create` as the user and on the machine that \
                   memgate runs on, or set api.key_env to the name of the environment variable that holds one";
    ApiError::new(StatusCode::UNAUTHORIZED, "key_required", message)
}
