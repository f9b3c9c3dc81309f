//! Whose a memory is: a tenant and a user, checked once and escaped in one place.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest user or tenant id, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 256;

/// Why an id was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// The id has no characters.
    #[error("must not be empty")]
    Empty,
    /// The id is longer than [`MAX_ID_BYTES`].
    #[error("must be at most {MAX_ID_BYTES} bytes of UTF-8")]
    TooLong,
    /// The id holds a control character.
    #[error("must not contain control characters")]
    Control,
}

/// The owner of a memory. Every read and write names one; there is no "all".
///
/// Holding an `Owner` does not mean that anyone was authenticated: that is
/// `identity::Identity`, which wraps one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Ids")]
pub struct Owner {
    tenant: String,
    user: String,
}

/// An owner as it is written, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ids {
    tenant: String,
    user: String,
}

impl TryFrom<Ids> for Owner {
    type Error = String;

    fn try_from(Ids { tenant, user }: Ids) -> Result<Self, String> {
        check_id(&user).map_err(|cause| format!("user: {cause}"))?;
        Self::new(&tenant, &user).map_err(|cause| format!("tenant: {cause}"))
    }
}

impl Owner {
    /// The tenant of everyone whose request names none.
    pub const DEFAULT_TENANT: &'static str = "default";

    /// A checked owner.
    ///
    /// # Errors
    /// [`InvalidId`] when either id is empty, too long, or holds control characters.
    pub fn new(tenant: &str, user: &str) -> Result<Self, InvalidId> {
        check_id(tenant)?;
        check_id(user)?;
        Ok(Self { tenant: tenant.to_owned(), user: user.to_owned() })
    }

    /// A user of the default tenant.
    ///
    /// # Errors
    /// As [`Owner::new`].
    pub fn of_user(user: &str) -> Result<Self, InvalidId> {
        Self::new(Self::DEFAULT_TENANT, user)
    }

    /// The tenant's id.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The user's id.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The partition key of this owner in every store. Two owners never share
    /// one: `/` separates, so `/` and `%` inside the ids are escaped.
    #[must_use]
    pub fn key(&self) -> String {
        let mut key = String::with_capacity(self.tenant.len() + self.user.len() + 1);
        escape_into(&mut key, &self.tenant);
        key.push('/');
        escape_into(&mut key, &self.user);
        key
    }

    /// The owner of a partition key; `None` when it is no key of ours.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        let (tenant, user) = key.split_once('/')?;
        // `%` last, so that what it stood for is not unescaped again.
        let plain = |id: &str| id.replace("%2F", "/").replace("%25", "%");
        let owner = Self::new(&plain(tenant), &plain(user)).ok()?;
        (owner.key() == key).then_some(owner)
    }
}

impl fmt::Debug for Owner {
    /// Ids stay out of logs, also when somebody prints a structure for debugging.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owner(…)")
    }
}

/// Checks an id: of a user or tenant, or of a project or whatever else a caller names.
///
/// # Errors
/// [`InvalidId`] when it is empty, too long, or holds control characters.
pub fn check_id(id: &str) -> Result<(), InvalidId> {
    if id.is_empty() {
        return Err(InvalidId::Empty);
    }
    if id.len() > MAX_ID_BYTES {
        return Err(InvalidId::TooLong);
    }
    if id.chars().any(char::is_control) {
        return Err(InvalidId::Control);
    }
    Ok(())
}

fn escape_into(key: &mut String, id: &str) {
    for c in id.chars() {
        match c {
            '%' => key.push_str("%25"),
            '/' => key.push_str("%2F"),
            other => key.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_checked_for_emptiness_length_and_control_characters() {
        assert_eq!(Owner::of_user(""), Err(InvalidId::Empty));
        assert_eq!(Owner::of_user("a\nb"), Err(InvalidId::Control));
        assert_eq!(Owner::of_user(&"é".repeat(129)), Err(InvalidId::TooLong));
        for id in ["auth0|123", "a+b@x.org", "\"'` OR 1=1 --", "🦀", "a/b", "%2F"] {
            assert_eq!(Owner::of_user(id).unwrap().user(), id);
        }
    }

    #[test]
    fn an_owner_is_checked_when_it_is_read() {
        let read = |text: &str| serde_json::from_str::<Owner>(text);
        let owner = Owner::new("t/1", "a%").unwrap();
        assert_eq!(read(&serde_json::to_string(&owner).unwrap()).unwrap(), owner);
        for (text, cause) in [
            (r#"{"tenant": "t", "user": ""}"#, "user: must not be empty"),
            (r#"{"tenant": "a\nb", "user": "u"}"#, "tenant: must not contain control characters"),
            (r#"{"tenant": "t"}"#, "missing field `user`"),
            (r#"{"tenant": "t", "user": "u", "all": true}"#, "unknown field `all`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(cause), "{error}");
        }
    }

    #[test]
    fn what_is_no_key_has_no_owner() {
        for key in ["", "a", "a/", "/a", "a/b/c", "a/%", "a/%2f", "a/\n"] {
            assert_eq!(Owner::from_key(key), None, "{key}");
        }
    }

    #[test]
    fn debug_output_names_nobody() {
        assert_eq!(format!("{:?}", Owner::of_user("alice").unwrap()), "Owner(…)");
    }

    proptest! {
        #[test]
        fn two_owners_never_share_a_key(a in "[a%/2F]{1,6}", b in "[a%/2F]{1,6}", c in "[a%/2F]{1,6}", d in "[a%/2F]{1,6}") {
            let (one, two) = (Owner::new(&a, &b).unwrap(), Owner::new(&c, &d).unwrap());
            prop_assert_eq!(one == two, one.key() == two.key());
        }

        #[test]
        fn a_key_leads_back_to_its_owner(tenant in "[a%/25F]{1,6}", user in "\\PC{1,6}") {
            let owner = Owner::new(&tenant, &user).unwrap();
            prop_assert_eq!(Owner::from_key(&owner.key()), Some(owner));
        }
    }
}
