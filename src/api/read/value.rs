//! The values of a request as a tree, from JSON or a query. It keeps members as they were sent,
//! including duplicates, and knows nothing about their meaning.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Number;

/// A value.
#[derive(Debug)]
pub(crate) enum RequestValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A value of a query, which may represent a number or a boolean.
    Spelt(String),
    List(Vec<RequestValue>),
    Object(Vec<(String, RequestValue)>),
}

impl RequestValue {
    /// The tree of a query's members.
    pub(crate) fn of_query(members: Vec<(String, String)>) -> Self {
        Self::Object(members.into_iter().map(|(name, text)| (name, Self::Spelt(text))).collect())
    }
}

impl<'de> Deserialize<'de> for RequestValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = RequestValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RequestValue, E> {
        Ok(RequestValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RequestValue, E> {
        Ok(RequestValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RequestValue, E> {
        Ok(RequestValue::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RequestValue, E> {
        Ok(RequestValue::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RequestValue, E> {
        Ok(Number::from_f64(value).map_or(RequestValue::Null, RequestValue::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<RequestValue, E> {
        Ok(RequestValue::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<RequestValue, E> {
        Ok(RequestValue::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RequestValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(RequestValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RequestValue, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = entries.next_entry()? {
            members.push(member);
        }
        Ok(RequestValue::Object(members))
    }
}
