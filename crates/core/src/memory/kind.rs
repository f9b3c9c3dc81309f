//! The kind of a memory.

use serde::{Deserialize, Serialize};

/// The kind of a memory, whatever its type. It is set when the memory is made, and stored.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// A turn: `content` is the user's side, `reply` the assistant's.
    Turn,
    /// The summary of a session.
    Summary,
    /// How the user wants to be called and answered in every conversation.
    Preference,
    /// A wish about a topic, or about every answer. It is shown in the user's words.
    Wish,
    /// Somebody's words that a caller of the API keeps as data, whatever they ask for: they say nothing of the user.
    Quotation,
    /// Any other memory: a statement of the user, a fact, or content from the API.
    #[default]
    Statement,
}

impl MemoryKind {
    /// Every kind.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name stored and sent.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The kind of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kinds_are_those_on_the_wire() {
        for &kind in MemoryKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(MemoryKind::from_name(kind.name()), Some(kind));
        }
    }
}
