//! Permissions of a key, and the owners within its reach.

use std::{collections::BTreeSet, fmt, str::FromStr};

use jiff::Timestamp;
use memgate_core::memory::Owner;

/// Maximum length of a key's name.
const MAX_NAME: usize = 64;

/// Permission of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Reads memories, sessions and jobs.
    Read,
    /// Creates, changes and deletes memories; ends sessions and retries jobs.
    Write,
    /// Everything for all users, including `/admin/…`.
    Admin,
    /// Speaks for the user whose verified identity Envoy sends along; nothing without one.
    Gateway,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Admin, Self::Gateway];

    /// The scope's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
            Self::Gateway => "gateway",
        }
    }
}

impl FromStr for Scope {
    type Err = InvalidKey;

    fn from_str(name: &str) -> Result<Self, InvalidKey> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.name() == name)
            .ok_or(InvalidKey { field: "scopes", cause: "must be read, write, admin or gateway" })
    }
}

/// The scopes of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Creates a set of scopes.
    pub fn new(scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self(scopes.into_iter().collect())
    }

    /// Whether the scope is permitted. `admin` includes `read` and `write`, but not `gateway`: a
    /// gateway's key must not be able to do more than its users.
    #[must_use]
    pub fn permit(&self, scope: Scope) -> bool {
        let by_admin = matches!(scope, Scope::Read | Scope::Write);
        self.0.contains(&scope) || (by_admin && self.0.contains(&Scope::Admin))
    }

    /// The names of the scopes.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|scope| scope.name()).collect()
    }

    fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(","))
    }
}

/// The memories that a key reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Those of all tenants.
    All,
    /// Those of all users, of the agents and of the organisation of one tenant.
    Tenant(String),
    /// Those of one user, or of one agent, or of the organisation.
    One(Owner),
}

impl Bound {
    /// Whether this owner's memories are within reach.
    #[must_use]
    pub fn reaches(&self, owner: &Owner) -> bool {
        match self {
            Self::All => true,
            Self::Tenant(tenant) => tenant == owner.tenant(),
            Self::One(one) => one == owner,
        }
    }

    /// The tenant, unless all tenants are within reach.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Tenant(tenant) => Some(tenant),
            Self::One(owner) => Some(owner.tenant()),
        }
    }

    /// The owner, if only one is within reach.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        match self {
            Self::One(owner) => Some(owner),
            Self::All | Self::Tenant(_) => None,
        }
    }

    /// The user, if only one is within reach.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.owner().and_then(Owner::user)
    }
}

/// A field of a new key is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {cause}")]
pub struct InvalidKey {
    /// The field.
    pub field: &'static str,
    /// The cause.
    pub cause: &'static str,
}

/// A key to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    name: String,
    scopes: Scopes,
    bound: Bound,
    expires_at: Option<Timestamp>,
}

impl NewKey {
    /// Checks the properties of a key.
    ///
    /// # Errors
    /// [`InvalidKey`] names the field.
    pub fn new(
        name: String,
        scopes: Scopes,
        bound: Bound,
        expires_at: Option<Timestamp>,
    ) -> Result<Self, InvalidKey> {
        let invalid = |field, cause| Err(InvalidKey { field, cause });
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !(1..=MAX_NAME).contains(&name.len()) || !name.chars().all(plain) {
            return invalid(
                "name",
                "must have 1 to 64 letters, digits, dots, dashes or underscores",
            );
        }
        if scopes.0.is_empty() {
            return invalid("scopes", "must name at least one of read, write, admin, gateway");
        }
        if scopes.contains(Scope::Admin) && bound != Bound::All {
            return invalid(
                "scopes",
                "admin covers all users, so the key must not be bound to a user or tenant",
            );
        }
        if scopes.contains(Scope::Gateway) && (scopes.0.len() > 1 || bound.owner().is_some()) {
            return invalid(
                "scopes",
                "gateway must be the only scope, of a key that is not bound to a user",
            );
        }
        Ok(Self { name, scopes, bound, expires_at })
    }

    pub(crate) fn record(&self, id: i64, created_at: Timestamp) -> KeyRecord {
        let Self { name, scopes, bound, expires_at } = self.clone();
        KeyRecord { id, name, scopes, bound, created_at, expires_at }
    }
}

/// A key as it is listed, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id, never used again.
    pub id: i64,
    /// Its name; two keys may have the same one while they are rotated.
    pub name: String,
    /// Its permissions.
    pub scopes: Scopes,
    /// Whose memories it reaches.
    pub bound: Bound,
    /// Time of its creation.
    pub created_at: Timestamp,
    /// When it stops being valid.
    pub expires_at: Option<Timestamp>,
}

impl KeyRecord {
    /// Whether the key is valid at a time.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str, scopes: &[Scope], bound: Bound) -> Result<NewKey, &'static str> {
        let scopes = Scopes::new(scopes.iter().copied());
        NewKey::new(name.into(), scopes, bound, None).map_err(|error| error.field)
    }

    #[test]
    fn only_sensible_keys_can_be_created() {
        let user = || Bound::One(Owner::of_user("alice").unwrap());
        assert!(new("app.1", &[Scope::Read, Scope::Write], user()).is_ok());
        assert!(new("ops", &[Scope::Admin], Bound::All).is_ok());
        assert!(new("envoy", &[Scope::Gateway], Bound::Tenant("acme".into())).is_ok());
        for (name, scopes, bound, field) in [
            ("", &[Scope::Read][..], Bound::All, "name"),
            ("a b", &[Scope::Read], Bound::All, "name"),
            (&"n".repeat(65), &[Scope::Read], Bound::All, "name"),
            ("a", &[], Bound::All, "scopes"),
            ("a", &[Scope::Admin], user(), "scopes"),
            ("a", &[Scope::Admin], Bound::Tenant("acme".into()), "scopes"),
            ("a", &[Scope::Gateway, Scope::Read], Bound::All, "scopes"),
            ("a", &[Scope::Gateway], user(), "scopes"),
        ] {
            assert_eq!(new(name, scopes, bound), Err(field), "{name} {scopes:?}");
        }
    }

    #[test]
    fn admin_includes_read_and_write_but_not_gateway() {
        let admin = Scopes::new([Scope::Admin]);
        assert_eq!(Scope::ALL.map(|scope| admin.permit(scope)), [true, true, true, false]);
        let write = Scopes::new([Scope::Write]);
        assert_eq!(Scope::ALL.map(|scope| write.permit(scope)), [false, true, false, false]);
    }

    #[test]
    fn a_bound_key_reaches_only_its_users() {
        let alice = Owner::new("acme", "alice").unwrap();
        let namesake = Owner::of_user("alice").unwrap();
        for (bound, reaches) in [
            (Bound::All, [true, true]),
            (Bound::Tenant("acme".into()), [true, false]),
            (Bound::One(alice.clone()), [true, false]),
        ] {
            assert_eq!([&alice, &namesake].map(|owner| bound.reaches(owner)), reaches, "{bound:?}");
        }
    }
}
