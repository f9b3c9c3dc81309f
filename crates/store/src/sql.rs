//! Names that SQL has for parts of a filter, the same in every SQL store.

use memgate_core::memory::{Comparison, TimeField};

/// The operator of a comparison.
pub(crate) fn operator(how: Comparison) -> &'static str {
    match how {
        Comparison::Gte => ">=",
        Comparison::Lte => "<=",
        Comparison::Gt => ">",
        Comparison::Lt => "<",
    }
}

/// The column of a time.
pub(crate) fn column(field: TimeField) -> &'static str {
    match field {
        TimeField::Created => "created_at",
        TimeField::Updated => "updated_at",
        TimeField::Event => "event_time",
    }
}

/// The JSON of a private visibility, as rows have it.
macro_rules! private {
    () => {
        r#"'{"kind":"private"}'"#
    };
}
pub(crate) use private;

/// The JSON of a public visibility, as rows have it.
macro_rules! public {
    () => {
        r#"'{"kind":"public"}'"#
    };
}
pub(crate) use public;

/// Begins the second part of the partition key of an agent's space, and of a session without a user.
pub(crate) const AGENT_KEY: &str = "%agent:";
pub(crate) const SESSION_KEY: &str = "%session:";

#[cfg(test)]
mod tests {
    use super::*;
    use memgate_core::memory::{Owner, Visibility};

    #[test]
    fn a_visibility_and_a_space_are_told_by_their_texts() {
        for (text, visibility) in
            [(private!(), Visibility::Private), (public!(), Visibility::Public)]
        {
            assert_eq!(text, format!("'{}'", serde_json::to_string(&visibility).unwrap()));
        }
        let key = |owner: Owner| owner.key();
        assert_eq!(key(Owner::agent("t", "a").unwrap()), format!("t/{AGENT_KEY}a"));
        assert_eq!(key(Owner::session("t", "a").unwrap()), format!("t/{SESSION_KEY}a"));
    }
}
