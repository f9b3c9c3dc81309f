//! JSON with places: values as slices of the original text, with their places.
//!
//! serde_json judges once whether the whole text is JSON; from then on values are found by walking
//! text that is known to be valid. It does not interpret the members, and writes no JSON
//! except escaped string literals.

mod walk;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, IgnoredAny, Visitor};

use walk::Walk;

/// Most members or elements of one value that are looked at; a value with more cannot be read. It
/// keeps a hostile body (millions of empty objects) from becoming many times its size in memory.
const MAX_CHILDREN: usize = 1 << 18;

/// One JSON value: its text and the place of its first byte in the body.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    text: &'a str,
    at: usize,
}

/// The members of one JSON object, in the order and number they were written.
pub(super) struct Object<'a> {
    /// First byte after the opening brace.
    pub(super) open: usize,
    pub(super) members: Vec<Member<'a>>,
}

/// `"key": value`.
pub(super) struct Member<'a> {
    pub(super) key: Cow<'a, str>,
    /// Place of the key's opening quote.
    pub(super) start: usize,
    pub(super) value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The value a body is; `None` when it is not UTF-8 or not JSON. A byte order mark and white
    /// space around the value are no part of it.
    pub(super) fn document(body: &'a [u8]) -> Option<Self> {
        let whole = std::str::from_utf8(body).ok()?;
        let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        serde_json::from_str::<IgnoredAny>(text).ok()?;
        let trimmed = text.trim_start_matches(WHITE_SPACE);
        Some(Self { text: trimmed.trim_end_matches(WHITE_SPACE), at: whole.len() - trimmed.len() })
    }

    /// A value that was cut out of a document before.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// Where the value stands in the body.
    pub(super) fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// The members when this is an object that can be read.
    pub(super) fn object(&self) -> Option<Object<'a>> {
        let mut members = Vec::new();
        let mut walk = Walk::inside(self.text, b'{')?;
        while !walk.ends_with(b'}')? {
            let key = walk.value()?;
            walk.expect(b':')?;
            let value = walk.value()?;
            members.push(Member {
                key: self.node(key.clone())?.lossy_str()?,
                start: self.at + key.start,
                value: self.node(value)?,
            });
            if members.len() > MAX_CHILDREN {
                return None;
            }
        }
        Some(Object { open: self.at + 1, members })
    }

    /// The elements when this is an array that can be read.
    pub(super) fn elements(&self) -> Option<Vec<Node<'a>>> {
        let mut elements = Vec::new();
        let mut walk = Walk::inside(self.text, b'[')?;
        while !walk.ends_with(b']')? {
            elements.push(self.node(walk.value()?)?);
            if elements.len() > MAX_CHILDREN {
                return None;
            }
        }
        Some(elements)
    }

    fn node(&self, range: Range<usize>) -> Option<Node<'a>> {
        Some(Self { text: self.text.get(range.clone())?, at: self.at + range.start })
    }

    pub(super) fn is_string(&self) -> bool {
        self.text.starts_with('"')
    }

    pub(super) fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// The string when it is one of valid Unicode.
    pub(super) fn strict_str(&self) -> Option<Cow<'a, str>> {
        match self.unescaped()? {
            Ok(plain) => Some(Cow::Borrowed(plain)),
            Err(escaped) => serde_json::from_str(escaped).ok().map(Cow::Owned),
        }
    }

    /// The string; what is no valid Unicode in it (an escaped lone surrogate) is replaced.
    pub(super) fn lossy_str(&self) -> Option<Cow<'a, str>> {
        match self.unescaped()? {
            Ok(plain) => Some(Cow::Borrowed(plain)),
            Err(escaped) => match serde_json::from_str(escaped) {
                Ok(text) => Some(Cow::Owned(text)),
                Err(_) => {
                    let LooseBytes(bytes) = serde_json::from_str(escaped).ok()?;
                    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
                }
            },
        }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        match self.text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number as a double; `None` for other values and for numbers beyond a double.
    pub(super) fn number(&self) -> Option<f64> {
        serde_json::from_str(self.text).ok()
    }

    pub(super) fn count(&self) -> Option<u64> {
        serde_json::from_str(self.text).ok()
    }

    /// A string's inner text when it has no escapes, else the literal to be unescaped.
    fn unescaped(&self) -> Option<Result<&'a str, &'a str>> {
        let inner = self.text.strip_prefix('"')?.strip_suffix('"')?;
        Some(if inner.contains('\\') { Err(self.text) } else { Ok(inner) })
    }
}

impl<'a> Object<'a> {
    /// The value read under a key: the last one written. `null` counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.slot(key).filter(|node| !node.is_null())
    }

    /// As [`Object::get`], `null` included.
    pub(super) fn slot(&self, key: &str) -> Option<Node<'a>> {
        self.members.iter().rev().find(|member| member.key == key).map(|member| member.value)
    }

    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.lossy_str().map(Cow::into_owned)
    }

    pub(super) fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.lossy_str()
    }

    pub(super) fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.bool()
    }

    pub(super) fn object(&self, key: &str) -> Option<Object<'a>> {
        self.get(key)?.object()
    }

    pub(super) fn elements(&self, key: &str) -> Option<Vec<Node<'a>>> {
        self.get(key)?.elements()
    }
}

/// JSON's own white space, which is narrower than Unicode's.
const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// A JSON string literal's inside (no quotes) for a text.
pub(super) fn escaped(text: &str) -> String {
    // Writing a string into memory cannot fail; the empty literal keeps the body valid if it did.
    let literal = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned());
    literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// A string's bytes with lone surrogates let through.
struct LooseBytes(Vec<u8>);

impl<'de> Deserialize<'de> for LooseBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = LooseBytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(LooseBytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}
