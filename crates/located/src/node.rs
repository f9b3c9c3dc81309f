//! A tree of values. It keeps members as they were written, including duplicates, and knows nothing
//! about their meaning.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// A value and its line.
#[derive(Debug)]
pub struct Node {
    /// Line number, starting at 1, if the source has lines.
    pub line: Option<u64>,
    /// The value.
    pub value: Value,
}

/// The key of a member and its line.
#[derive(Debug)]
pub struct Key {
    /// The name.
    pub name: String,
    /// Line number, starting at 1, if the source has lines.
    pub line: Option<u64>,
}

/// A value. The parameters are for formats that deserialize keys and values with places of their
/// own.
#[derive(Debug)]
pub enum Value<K = Key, N = Node> {
    /// A key without a value: also an empty list and a section without keys.
    Empty,
    /// An explicit null.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number, 0 or more.
    Unsigned(u64),
    /// A negative whole number.
    Signed(i64),
    /// Another number.
    Float(f64),
    /// A string.
    Text(String),
    /// A string from a source that has only strings: it may spell a number or a boolean.
    Spelt(String),
    /// A list.
    List(Vec<N>),
    /// Members in their order; a key may be repeated.
    Map(Vec<(K, N)>),
}

impl<K, N> Value<K, N> {
    /// Converts keys and nodes.
    pub fn map<L, M>(self, key: impl Fn(K) -> L, node: impl Fn(N) -> M) -> Value<L, M> {
        match self {
            Self::Empty => Value::Empty,
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Unsigned(value) => Value::Unsigned(value),
            Self::Signed(value) => Value::Signed(value),
            Self::Float(value) => Value::Float(value),
            Self::Text(text) => Value::Text(text),
            Self::Spelt(text) => Value::Spelt(text),
            Self::List(items) => Value::List(items.into_iter().map(node).collect()),
            Self::Map(members) => {
                let members = members.into_iter();
                Value::Map(members.map(|(name, value)| (key(name), node(value))).collect())
            }
        }
    }
}

impl Node {
    /// Members without lines whose values are only spelt, for example those of a query.
    pub fn of_spelt(members: impl IntoIterator<Item = (String, String)>) -> Self {
        let member = |(name, text)| {
            (Key { name, line: None }, Self { line: None, value: Value::Spelt(text) })
        };
        Self { line: None, value: Value::Map(members.into_iter().map(member).collect()) }
    }

    /// The line of a key such as `memory.policies[0].match`, or of its nearest ancestor.
    #[must_use]
    pub fn line_of(&self, path: &str) -> Option<u64> {
        let mut node = self;
        let mut line = self.line;
        for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
            let next = match &node.value {
                Value::Map(members) => members
                    .iter()
                    .find(|(key, _)| key.name == part)
                    .map(|(key, node)| (node, key.line)),
                Value::List(items) => part
                    .trim_end_matches(']')
                    .parse()
                    .ok()
                    .and_then(|index: usize| items.get(index))
                    .map(|item| (item, item.line)),
                _ => None,
            };
            let Some(found) = next else { break };
            (node, line) = found;
        }
        line
    }
}

/// From a format without lines, for example JSON.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self { line: None, value: Value::deserialize(from)? })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self { name: String::deserialize(from)?, line: None })
    }
}

impl<'de, K: Deserialize<'de>, N: Deserialize<'de>> Deserialize<'de> for Value<K, N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ValueVisitor(PhantomData))
    }
}

struct ValueVisitor<K, N>(PhantomData<(K, N)>);

impl<'de, K: Deserialize<'de>, N: Deserialize<'de>> Visitor<'de> for ValueVisitor<K, N> {
    type Value = Value<K, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(value).map_or(Value::Signed(value), Value::Unsigned))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Value::Unsigned(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = entries.next_entry()? {
            members.push(member);
        }
        Ok(Value::Map(members))
    }
}
