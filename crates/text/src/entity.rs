//! Who and what memories speak of, and how these stand to one another.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The most entities that one memory names: far above a statement, bounds a helper model's list.
pub const MAX_MENTIONS: usize = 64;

/// The most relations between entities that one memory tells of.
pub const MAX_ENTITY_RELATIONS: usize = 64;

/// The longest name, kind or predicate, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// An entity as one memory speaks of it: a person, a place, a product, a project.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mention {
    /// Its name, as it is written there.
    pub name: String,
    /// Its kind in a word: `person`, `place`, …
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// How one entity stands to another, as one memory has it: "Ada", "works_at", "Helio".
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityRelation {
    /// The name of the one.
    pub subject: String,
    /// How it stands to the other, in a word or two.
    pub predicate: String,
    /// The name of the other.
    pub object: String,
}

impl Mention {
    /// Whether a store takes it.
    #[must_use]
    pub fn can_be_kept(&self) -> bool {
        is_name(&self.name) && self.kind.as_deref().is_none_or(is_name)
    }

    /// Those that a store takes, the first of each entity, as many as it takes.
    #[must_use]
    pub fn keepable(mentions: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut seen = HashSet::new();
        let kept = mentions.into_iter().filter(Self::can_be_kept);
        kept.filter(|mention| seen.insert(entity_key(&mention.name))).take(MAX_MENTIONS).collect()
    }
}

impl EntityRelation {
    /// Whether a store takes it.
    #[must_use]
    pub fn can_be_kept(&self) -> bool {
        [&self.subject, &self.predicate, &self.object].into_iter().all(|text| is_name(text))
    }

    /// Those that a store takes, each once, as many as it takes.
    #[must_use]
    pub fn keepable(relations: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut seen = HashSet::new();
        let kept = relations.into_iter().filter(Self::can_be_kept);
        kept.filter(|relation| seen.insert(relation.clone())).take(MAX_ENTITY_RELATIONS).collect()
    }
}

fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// The key that different spellings of one name share: compatibility forms, case and apostrophes
/// folded, white space made single. Accents stay: Jose and José may be two people.
#[must_use]
pub fn entity_key(name: &str) -> String {
    // Up and then down, since only that brings ß and SS, σ and ς together.
    let upper = name.nfkc().flat_map(char::to_uppercase);
    let folded = upper.flat_map(char::to_lowercase).nfkc().map(|c| match c {
        '\u{2018}' | '\u{2019}' => '\'',
        other => other,
    });
    let folded: String = folded.collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_name_have_one_key() {
        for (one, other) in [
            ("Ana", "ANA"),
            ("New York", " new\u{a0}\t york "),
            ("Groß", "GROSS"),
            ("ΟΔΥΣΣΕΥΣ", "Οδυσσευς"),
            ("José", "jose\u{301}"),
            ("Ｈｅｌｉｏ", "helio"),
            ("O’Brien", "o'brien"),
            ("Işık", "IŞIK"),
        ] {
            assert_eq!(entity_key(one), entity_key(other), "{one}");
        }
    }

    #[test]
    fn other_names_have_another_key() {
        for (one, other) in
            [("Jose", "José"), ("Ana", "Anna"), ("a b", "ab"), ("陈", "陳"), ("a%", "a_")]
        {
            assert_ne!(entity_key(one), entity_key(other), "{one}");
        }
        assert_eq!(entity_key(" \u{3000}"), "");
    }

    #[test]
    fn what_no_store_takes_is_left_out_and_each_comes_once() {
        let mention = |name: &str, kind: Option<&str>| Mention {
            name: name.into(),
            kind: kind.map(str::to_owned),
        };
        let all = [
            mention("Ana", None),
            mention(" ", None),
            mention("a\nb", None),
            mention("ANA", Some("person")),
            mention(&"x".repeat(MAX_NAME_BYTES + 1), None),
            mention("Lyon", Some("")),
            mention("Lyon", Some("place")),
        ];
        assert_eq!(Mention::keepable(all), [mention("Ana", None), mention("Lyon", Some("place"))]);
        let many = (0..=MAX_MENTIONS).map(|n| mention(&format!("n{n}"), None));
        assert_eq!(Mention::keepable(many).len(), MAX_MENTIONS);
        let relation = |object: &str| EntityRelation {
            subject: "Ana".into(),
            predicate: "lives_in".into(),
            object: object.into(),
        };
        let all = [relation("Lyon"), relation(""), relation("Lyon")];
        assert_eq!(EntityRelation::keepable(all), [relation("Lyon")]);
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(name in "\\PC{0,12}") {
            let key = entity_key(&name);
            prop_assert_eq!(entity_key(&key), key);
        }
    }
}
