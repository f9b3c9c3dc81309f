//! Where a scan ended, for stores that scan by owner and id: an order that no change of a memory
//! and no other memory moves it in.

use crate::memory::{Memory, Owner, StoreError};

/// The last memory of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Its owner's partition key.
    pub(super) owner: String,
    /// Its id.
    pub(super) id: String,
}

impl Place {
    /// Where a memory stands.
    pub(super) fn of(memory: &Memory) -> Self {
        Self { owner: memory.owner.key(), id: memory.id.as_str().to_owned() }
    }

    /// The place in a text; without one, before everything of `owner`.
    ///
    /// # Errors
    /// When it is no place, or another owner's.
    pub(super) fn read(after: Option<&str>, owner: Option<&Owner>) -> Result<Self, StoreError> {
        let Some(after) = after else {
            return Ok(Self {
                owner: owner.map(Owner::key).unwrap_or_default(),
                ..Self::default()
            });
        };
        let invalid = |cause: &str| StoreError::Invalid { field: "after", cause: cause.to_owned() };
        let place = Self::parse(after).ok_or_else(|| invalid("is not where a scan ended"))?;
        match owner {
            Some(owner) if owner.key() != place.owner => Err(invalid("is another owner's")),
            _ => Ok(place),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        // A key has one `/`, whatever the ids in it; what follows the second is the memory's.
        let (second, _) = text.match_indices('/').nth(1)?;
        let (owner, id) = (&text[..second], &text[second + 1..]);
        Owner::from_key(owner)?;
        (!id.is_empty()).then(|| Self { owner: owner.to_owned(), id: id.to_owned() })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.owner, self.id)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_told_whatever_the_ids() {
        for (tenant, user, id) in
            [("default", "alice", "m"), ("a/b", "c%/", "/d/ e"), ("%2F", "🦀", "%")]
        {
            let owner = Owner::new(tenant, user).unwrap();
            let place = Place { owner: owner.key(), id: id.to_owned() };
            assert_eq!(Place::read(Some(&place.to_string()), Some(&owner)).unwrap(), place);
            assert!(
                Place::read(Some(&place.to_string()), Some(&Owner::of_user("x").unwrap())).is_err()
            );
        }
        for text in ["", "a", "a/b", "a/b/", "/b/c", "a//c", "%/b/c"] {
            assert!(Place::read(Some(text), None).is_err(), "{text}");
        }
    }
}
