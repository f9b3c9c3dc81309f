//! A YAML document as a tree of values with line numbers. It knows nothing about keys.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{Error, NonFiniteFloatPolicy, Spanned, options};

use crate::parse::problem::Problem;

/// A value and its position.
#[derive(Debug)]
pub(crate) struct Node {
    /// Line number, starting at 1.
    pub line: u64,
    pub value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text {
        text: String,
        from_environment: bool,
    },
    List(Vec<Node>),
    /// In the order of the file; keys are unique.
    Map(Vec<Entry>),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub key: String,
    /// Line of the key.
    pub line: u64,
    pub node: Node,
}

impl Node {
    /// Parses one YAML document; `None` if it is empty.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, Problem> {
        let options = options! {
            strict_booleans: true,
            with_snippet: false,
            // Non-finite numbers are refused later, where the key is known.
            non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        };
        match serde_saphyr::from_str_with_options::<Option<Spanned<Raw>>>(text, options) {
            Ok(root) => Ok(root.map(Self::from)),
            Err(error) => Err(syntax(&error)),
        }
    }

    /// The line of a key such as `memory.policies[0].match`, or of its nearest ancestor.
    pub(crate) fn line_of(&self, key: &str) -> u64 {
        let mut node = self;
        let mut line = self.line;
        for part in key.split(['.', '[']).filter(|part| !part.is_empty()) {
            let next = match &node.value {
                Value::Map(entries) => entries
                    .iter()
                    .find(|entry| entry.key == part)
                    .map(|entry| (&entry.node, entry.line)),
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

fn syntax(error: &Error) -> Problem {
    let line = error.location().map(|location| location.line());
    let text = error.without_snippet().to_string();
    // The parser appends its own position to the message; ours is printed before it.
    let cause = text.split(" at line ").next().unwrap_or(&text);
    let problem = Problem::new("", format!("not valid YAML: {cause}"));
    line.map_or(problem.clone(), |line| problem.at(line))
}

/// A value as the parser returns it.
enum Raw {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl From<Spanned<Raw>> for Node {
    fn from(raw: Spanned<Raw>) -> Self {
        let value = match raw.value {
            Raw::Null => Value::Null,
            Raw::Bool(value) => Value::Bool(value),
            Raw::Integer(value) => Value::Integer(value),
            Raw::Float(value) => Value::Float(value),
            Raw::Text(text) => Value::Text { text, from_environment: false },
            Raw::List(items) => Value::List(items.into_iter().map(Self::from).collect()),
            Raw::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| Entry {
                        line: key.referenced.line(),
                        key: key.value,
                        node: Self::from(value),
                    })
                    .collect(),
            ),
        };
        Self { line: raw.referenced.line(), value }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        // No key accepts more than an `i64` holds; the error is reported where the key is known.
        Ok(i64::try_from(value).map_or(Raw::Float(value as f64), Raw::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_line() {
        let node = Node::parse("a: 1\nb:\n  - c: x\n  - c: y\n    d: [1,\n 2]\n").unwrap().unwrap();
        assert_eq!(node.line_of("a"), 1);
        assert_eq!(node.line_of("b[0].c"), 3);
        assert_eq!(node.line_of("b[1].d"), 5);
        assert_eq!(node.line_of("b[1].missing"), 4);
    }

    #[test]
    fn a_file_with_only_comments_is_empty() {
        assert!(Node::parse("# nothing here\n").unwrap().is_none());
        assert!(Node::parse("").unwrap().is_none());
    }

    #[test]
    fn refuses_invalid_yaml_and_duplicate_keys_with_their_line() {
        let problem = Node::parse("a: 1\nb: [1\nc: 2\n").unwrap_err();
        assert!(problem.line.is_some(), "{problem}");
        let problem = Node::parse("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!(problem.line, Some(3), "{problem}");
    }
}
