//! The owner of a memory: a tenant and a user or another space, checked once and escaped in one place.

mod space;
mod within;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::space::MARK;
pub use self::{space::Space, within::Within};

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
#[serde(try_from = "Ids", into = "Ids")]
pub struct Owner {
    tenant: String,
    /// A user's id, or the marked name of another space.
    name: String,
}

/// An owner as it is written, not yet checked: a tenant and one of the others.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ids {
    tenant: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    organisation: bool,
}

impl TryFrom<Ids> for Owner {
    type Error = String;

    fn try_from(Ids { tenant, user, agent, session, organisation }: Ids) -> Result<Self, String> {
        check_id(&tenant).map_err(|cause| format!("tenant: {cause}"))?;
        let of =
            |name, made: Result<Self, InvalidId>| made.map_err(|cause| format!("{name}: {cause}"));
        match (user, agent, session, organisation) {
            (Some(user), None, None, false) => of("user", Self::new(&tenant, &user)),
            (None, Some(agent), None, false) => of("agent", Self::agent(&tenant, &agent)),
            (None, None, Some(session), false) => of("session", Self::session(&tenant, &session)),
            (None, None, None, true) => of("organisation", Self::organisation(&tenant)),
            _ => Err("one of user, agent, session and organisation is required".to_owned()),
        }
    }
}

impl From<Owner> for Ids {
    fn from(owner: Owner) -> Self {
        let of = Self { tenant: owner.tenant.clone(), ..Self::default() };
        match owner.space() {
            Space::User(id) => Self { user: Some(id.to_owned()), ..of },
            Space::Agent(id) => Self { agent: Some(id.to_owned()), ..of },
            Space::Session(id) => Self { session: Some(id.to_owned()), ..of },
            Space::Organisation => Self { organisation: true, ..of },
        }
    }
}

impl Owner {
    /// The tenant of everyone whose request names none.
    pub const DEFAULT_TENANT: &'static str = "default";

    /// A checked owner: a user.
    ///
    /// # Errors
    /// [`InvalidId`] when either id is empty, too long, or holds control characters.
    pub fn new(tenant: &str, user: &str) -> Result<Self, InvalidId> {
        Self::of(tenant, Space::User(user))
    }

    /// The space of an agent.
    ///
    /// # Errors
    /// [`InvalidId`] of either id.
    pub fn agent(tenant: &str, agent: &str) -> Result<Self, InvalidId> {
        Self::of(tenant, Space::Agent(agent))
    }

    /// The space of a tenant's organisation.
    ///
    /// # Errors
    /// [`InvalidId`] of the tenant.
    pub fn organisation(tenant: &str) -> Result<Self, InvalidId> {
        Self::of(tenant, Space::Organisation)
    }

    /// A session without a user.
    ///
    /// # Errors
    /// [`InvalidId`] of either id.
    pub fn session(tenant: &str, session: &str) -> Result<Self, InvalidId> {
        Self::of(tenant, Space::Session(session))
    }

    /// The owner of a tenant with this [`Owner::name`].
    ///
    /// # Errors
    /// [`InvalidId`] when there is no such owner.
    pub fn named(tenant: &str, name: &str) -> Result<Self, InvalidId> {
        Self::of(tenant, Space::of(name).ok_or(InvalidId::Control)?)
    }

    fn of(tenant: &str, space: Space<'_>) -> Result<Self, InvalidId> {
        check_id(tenant)?;
        space.id().map_or(Ok(()), check_id)?;
        Ok(Self { tenant: tenant.to_owned(), name: space.name() })
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

    /// The owner's name within its tenant, for tables: a user's id, and for other owners what no user is called.
    /// [`Owner::named`] reads it back.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bounds of the [`Owner::name`]s of all sessions without a user: from the first, below the second.
    pub const SESSION_NAMES: [&str; 2] = ["\u{1}session:", "\u{1}session;"];

    /// The space that the owner is.
    #[must_use]
    pub fn space(&self) -> Space<'_> {
        // An owner is made of a space, so its name is one's.
        Space::of(&self.name).unwrap_or(Space::User(&self.name))
    }

    /// The user's id, if the owner is a user.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        match self.space() {
            Space::User(id) => Some(id),
            _ => None,
        }
    }

    /// The partition key of this owner in every store. Two owners never share
    /// one: `/` separates, so `/` and `%` inside the ids are escaped, and another `%` marks who is no user.
    #[must_use]
    pub fn key(&self) -> String {
        let mut key = self.tenant_key();
        key.push('/');
        let (mark, name) = match self.name.strip_prefix(MARK) {
            Some(name) => ("%", name),
            None => ("", &*self.name),
        };
        key.push_str(mark);
        escape_into(&mut key, name);
        key
    }

    /// The part before the `/` of the partition keys of a tenant's owners.
    #[must_use]
    pub fn tenant_key(&self) -> String {
        let mut key = String::with_capacity(self.tenant.len() + self.name.len() + 1);
        escape_into(&mut key, &self.tenant);
        key
    }

    /// The owner of a partition key; `None` when it is no key of ours.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        let (tenant, name) = key.split_once('/')?;
        // `%` last, so that what it stood for is not unescaped again.
        let plain = |id: &str| id.replace("%2F", "/").replace("%25", "%");
        let marked = name
            .strip_prefix('%')
            .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
        let name = match marked {
            Some(name) => format!("{MARK}{}", plain(name)),
            None => plain(name),
        };
        let owner = Self::named(&plain(tenant), &name).ok()?;
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
            assert_eq!(Owner::of_user(id).unwrap().user(), Some(id));
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
            (r#"{"tenant": "t"}"#, "one of user, agent, session and organisation is required"),
            (r#"{"tenant": "t", "user": "u", "agent": "a"}"#, "one of user, agent, session"),
            (r#"{"tenant": "t", "user": "\u0001organisation"}"#, "user: must not contain control"),
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
    fn a_space_is_no_user_and_is_found_again_by_key_name_and_file() {
        let spaces = [
            Owner::agent("t/1", "a%/b").unwrap(),
            Owner::organisation("t").unwrap(),
            Owner::session("t", "organisation").unwrap(),
            Owner::new("t", "%organisation").unwrap(),
            Owner::new("t", "organisation").unwrap(),
        ];
        let keys: std::collections::HashSet<String> = spaces.iter().map(Owner::key).collect();
        assert_eq!(keys.len(), spaces.len());
        for owner in &spaces {
            assert_eq!(Owner::from_key(&owner.key()).as_ref(), Some(owner));
            assert_eq!(Owner::named(owner.tenant(), owner.name()).as_ref(), Ok(owner));
            let text = serde_json::to_string(owner).unwrap();
            assert_eq!(&serde_json::from_str::<Owner>(&text).unwrap(), owner);
        }
        for key in ["t/%", "t/%x", "t/%organisation2", "t/%agent:", "t/%2f"] {
            assert_eq!(Owner::from_key(key), None, "{key}");
        }
        let [from, until] = Owner::SESSION_NAMES;
        let is_session = |owner: &Owner| matches!(owner.space(), Space::Session(_));
        assert!(spaces.iter().all(|it| (from..until).contains(&it.name()) == is_session(it)));
        assert!(Owner::new("t", "\u{1}organisation").is_err());
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
