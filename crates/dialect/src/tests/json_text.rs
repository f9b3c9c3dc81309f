//! Generated JSON text as clients may write it (odd white space, escapes, big numbers, keys twice),
//! and trees that keep all of it but the white space, to compare by.

use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON value whose scalars and keys are kept as they were written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Scalar(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    pub(super) fn string(text: &str) -> Self {
        Self::Scalar(serde_json::to_string(text).unwrap())
    }

    /// Parses text without any of the code under test.
    pub(super) fn parse(text: &str) -> Self {
        match text.trim_start_matches([' ', '\n', '\r', '\t']).chars().next() {
            Some('[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
                Self::Array(elements.iter().map(|element| Self::parse(element.get())).collect())
            }
            Some('{') => {
                let Members(members) = serde_json::from_str(text).unwrap();
                let member = |(key, value): &(&RawValue, &RawValue)| {
                    (key.get().to_owned(), Self::parse(value.get()))
                };
                Self::Object(members.iter().map(member).collect())
            }
            _ => Self::Scalar(text.trim_matches([' ', '\n', '\r', '\t']).to_owned()),
        }
    }

    /// The value read under a key (the last one), `null` as absent.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let (_, value) = members.iter().rev().find(|(written, _)| means(written, key))?;
        Some(value).filter(|value| **value != Self::Scalar("null".to_owned()))
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Object(members) = self else { return None };
        let (_, value) = members.iter_mut().rev().find(|(written, _)| means(written, key))?;
        Some(value)
    }

    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Scalar(written) => serde_json::from_str(written).ok(),
            _ => None,
        }
    }

    /// The tree as text, with these gaps between its tokens, in turn.
    pub(super) fn write(&self, gaps: &[&'static str]) -> String {
        let mut writer = Writer { gaps: gaps.iter().cycle(), out: String::new() };
        writer.gap();
        writer.write(self);
        writer.gap();
        writer.out
    }
}

struct Writer<'a> {
    gaps: std::iter::Cycle<std::slice::Iter<'a, &'static str>>,
    out: String,
}

impl Writer<'_> {
    fn gap(&mut self) {
        self.out.push_str(self.gaps.next().unwrap_or(&""));
    }

    fn token(&mut self, token: &str) {
        self.out.push_str(token);
        self.gap();
    }

    fn write(&mut self, tree: &Tree) {
        match tree {
            Tree::Scalar(written) => self.out.push_str(written),
            Tree::Array(elements) => {
                self.token("[");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.token(",");
                    }
                    self.write(element);
                    self.gap();
                }
                self.out.push(']');
            }
            Tree::Object(members) => {
                self.token("{");
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        self.token(",");
                    }
                    self.token(key);
                    self.token(":");
                    self.write(value);
                    self.gap();
                }
                self.out.push('}');
            }
        }
    }
}

/// Whether a key as written means this key.
pub(super) fn means(written: &str, key: &str) -> bool {
    serde_json::from_str::<String>(written).is_ok_and(|read| read == key)
}

struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Members(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// White space between tokens.
pub(super) fn gaps() -> impl Strategy<Value = Vec<&'static str>> {
    let gap =
        prop_oneof![6 => Just(""), 3 => Just(" "), 1 => Just("\r\n\t"), 1 => Just("\n        ")];
    prop::collection::vec(gap, 1..9)
}

/// A string literal of some text, plainly written or with every character escaped.
pub(super) fn literal() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just(String::new()),
        "[a-z ]{1,12}",
        "[\\\\\"/\n\t{}\\[\\],:<>]{1,8}",
        "\\PC{0,8}",
        Just("</memory-context>".to_owned()),
    ];
    (text, any::<bool>())
        .prop_map(|(text, plain)| if plain { quoted(&text) } else { escaped(&text) })
}

/// A key, sometimes spelt with escapes.
pub(super) fn key(name: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(quoted(name)), 1 => Just(escaped(name))]
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
    format!("\"{units}\"")
}

/// Any value at all.
pub(super) fn anything() -> impl Strategy<Value = Tree> {
    let number = prop_oneof![
        Just("123456789012345678901234567890"),
        Just("-0"),
        Just("1.10"),
        Just("1E+400"),
        Just("0.1e-7"),
        Just("42"),
    ];
    let leaf = prop_oneof![
        number.prop_map(|number| Tree::Scalar(number.to_owned())),
        literal().prop_map(Tree::Scalar),
        prop_oneof![Just("true"), Just("false"), Just("null"), Just(r#""\ud83d""#)]
            .prop_map(|word| Tree::Scalar(word.to_owned())),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Array),
            prop::collection::vec((literal(), inner), 0..4).prop_map(Tree::Object),
        ]
    })
}
