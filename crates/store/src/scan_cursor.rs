//! The cursor of a scan by owner and id, an order that does not change when memories change.

use memgate_core::memory::{Memory, Owner, StoreError};

/// The last memory of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScanCursor {
    /// The owner's partition key.
    pub(super) owner: String,
    /// Its id.
    pub(super) id: String,
}

impl ScanCursor {
    /// The cursor after a memory.
    pub(super) fn of(memory: &Memory) -> Self {
        Self { owner: memory.owner.key(), id: memory.id.as_str().to_owned() }
    }

    /// Parses a cursor; without one, the start of `owner`.
    ///
    /// # Errors
    /// When it is invalid or belongs to another owner.
    pub(super) fn parse(after: Option<&str>, owner: Option<&Owner>) -> Result<Self, StoreError> {
        let Some(after) = after else {
            return Ok(Self {
                owner: owner.map(Owner::key).unwrap_or_default(),
                ..Self::default()
            });
        };
        let invalid = |cause: &str| StoreError::Invalid { field: "after", cause: cause.to_owned() };
        let cursor = Self::split(after).ok_or_else(|| invalid("is not a valid cursor"))?;
        match owner {
            Some(owner) if owner.key() != cursor.owner => {
                Err(invalid("is the cursor of another owner"))
            }
            _ => Ok(cursor),
        }
    }

    fn split(text: &str) -> Option<Self> {
        // An owner's key has exactly one `/`, whatever the ids contain; the memory's id follows the
        // second.
        let (second, _) = text.match_indices('/').nth(1)?;
        let (owner, id) = (&text[..second], &text[second + 1..]);
        Owner::from_key(owner)?;
        (!id.is_empty()).then(|| Self { owner: owner.to_owned(), id: id.to_owned() })
    }
}

impl std::fmt::Display for ScanCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.owner, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_with_any_ids() {
        for (tenant, user, id) in
            [("default", "alice", "m"), ("a/b", "c%/", "/d/ e"), ("%2F", "🦀", "%")]
        {
            let owner = Owner::new(tenant, user).unwrap();
            let cursor = ScanCursor { owner: owner.key(), id: id.to_owned() };
            assert_eq!(ScanCursor::parse(Some(&cursor.to_string()), Some(&owner)).unwrap(), cursor);
            assert!(
                ScanCursor::parse(Some(&cursor.to_string()), Some(&Owner::of_user("x").unwrap()))
                    .is_err()
            );
        }
        for text in ["", "a", "a/b", "a/b/", "/b/c", "a//c", "%/b/c"] {
            assert!(ScanCursor::parse(Some(text), None).is_err(), "{text}");
        }
    }
}
