//! Who and what memories speak of, and how these stand to one another.

use serde::{Deserialize, Serialize};

/// An entity as one memory speaks of it: a person, a place, a product, a project.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mention {
    /// Its name, as it is written there.
    pub name: String,
    /// What it is, in a word: `person`, `place`, …
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// How one entity stands to another, as one memory has it: "Ada", "works_at", "Helio".
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntityRelation {
    /// The name of the one.
    pub subject: String,
    /// How it stands to the other, in a word or two.
    pub predicate: String,
    /// The name of the other.
    pub object: String,
}
