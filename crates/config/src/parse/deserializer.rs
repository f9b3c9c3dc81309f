//! Deserializes the tree into the typed configuration, so that every error has its key and line.
//! All unknown keys are collected; the first wrong type stops.

use std::cell::RefCell;

use serde::{
    de::{
        self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};

use crate::{
    Config,
    parse::{
        deserialize_error::DeserializeError,
        interpolate::join,
        problem::Problem,
        suggest::{misplaced, nearest, renamed},
        yaml_tree::{Entry, Node, Value},
    },
};

/// A section with more keys than this is not listed in an error.
const FEW: usize = 8;

/// Deserializes the configuration; problems are in the order of the file.
pub(crate) fn read(root: &Node, known_keys: &[String]) -> Result<Config, Vec<Problem>> {
    let unknown = RefCell::new(Vec::new());
    let reader = Reader { node: root, key: String::new(), known_keys, unknown: &unknown };
    let read = serde::Deserialize::deserialize(reader);
    let mut problems = unknown.into_inner();
    match read {
        Ok(config) if problems.is_empty() => return Ok(config),
        Ok(_) => {}
        Err(DeserializeError(problem)) => problems.push(problem),
    }
    problems.sort_by_key(|problem: &Problem| problem.line);
    Err(problems)
}

const INFINITE: &str = "must be a finite number";

/// Whether a number is finite, also as `f32`, which most keys use.
fn is_finite(value: f64) -> bool {
    (value as f32).is_finite()
}

#[derive(Clone)]
struct Reader<'n> {
    node: &'n Node,
    key: String,
    known_keys: &'n [String],
    unknown: &'n RefCell<Vec<Problem>>,
}

impl<'n> Reader<'n> {
    fn child(&self, node: &'n Node, key: String) -> Self {
        Self { node, key, known_keys: self.known_keys, unknown: self.unknown }
    }

    fn placed<T>(&self, result: Result<T, DeserializeError>) -> Result<T, DeserializeError> {
        result.map_err(|error| error.at(&self.key, self.node.line))
    }

    /// Records an unknown key, with a suggestion.
    fn note_unknown(&self, entry: &Entry, fields: &'static [&'static str]) {
        let full = join(&self.key, &entry.key);
        let suggestion = || {
            let sibling = nearest(&entry.key, fields.iter().copied());
            sibling.or_else(|| misplaced(&self.key, &entry.key, self.known_keys))
        };
        let meant = match renamed(&full).or_else(suggestion) {
            Some(name) => format!("; did you mean \"{name}\"?"),
            None if (1..=FEW).contains(&fields.len()) => {
                format!("; valid keys here: {}", fields.join(", "))
            }
            None => String::new(),
        };
        let problem = Problem::new(full, format!("unknown key{meant}")).at(entry.line);
        self.unknown.borrow_mut().push(problem);
    }

    /// Parses a number from a string that came from the environment.
    fn spelt_number<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.spelt() {
            Some(value) if !is_finite(value) => {
                self.placed(Err(DeserializeError::custom(INFINITE)))
            }
            Some(value) => self.placed(visitor.visit_f64(value)),
            None => self.deserialize_any(visitor),
        }
    }

    /// Parses a scalar from a string that came from the environment.
    fn spelt<T: std::str::FromStr>(&self) -> Option<T> {
        match &self.node.value {
            Value::Text { text, from_environment: true } => text.trim().parse().ok(),
            _ => None,
        }
    }
}

macro_rules! scalar {
    ($($method:ident $visit:ident $type:ty;)*) => {$(
        fn $method<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
            match self.spelt::<$type>() {
                Some(value) => self.placed(visitor.$visit(value)),
                None => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'n> Deserializer<'n> for Reader<'n> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let result = match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(*value),
            },
            Value::Float(value) if !is_finite(*value) => Err(DeserializeError::custom(INFINITE)),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text { text, .. } => visitor.visit_borrowed_str(text),
            Value::List(items) => {
                visitor.visit_seq(List { of: &self, items: items.iter(), next: 0 })
            }
            Value::Map(entries) => visitor.visit_map(Map {
                of: &self,
                entries: entries.iter(),
                current: None,
                fields: None,
            }),
        };
        self.placed(result)
    }

    scalar! {
        deserialize_bool visit_bool bool;
        deserialize_u16 visit_u64 u64;
        deserialize_u32 visit_u64 u64;
        deserialize_u64 visit_u64 u64;
    }

    fn deserialize_f32<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        self.spelt_number(visitor)
    }

    fn deserialize_f64<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        self.spelt_number(visitor)
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match &self.node.value {
            // A key without a value, or with only comments.
            Value::Null => {
                let result = visitor.visit_seq(List { of: &self, items: [].iter(), next: 0 });
                self.placed(result)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        let entries = match &self.node.value {
            Value::Map(entries) => entries.iter(),
            Value::Null => [].iter(),
            // Serde would assign the items to the fields by position.
            Value::List(_) => {
                return self.placed(Err(DeserializeError::invalid_type(Unexpected::Seq, &visitor)));
            }
            _ => return self.deserialize_any(visitor),
        };
        let result =
            visitor.visit_map(Map { of: &self, entries, current: None, fields: Some(fields) });
        self.placed(result)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        let result = match &self.node.value {
            Value::Text { text, .. } => visitor.visit_enum(Name(text)),
            _ => Err(DeserializeError::custom(format_args!("must be one of {}", known.join(", ")))),
        };
        self.placed(result)
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        i8 i16 i32 i64 i128 u8 u128 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct map identifier ignored_any
    }
}

struct List<'a, 'n> {
    of: &'a Reader<'n>,
    items: std::slice::Iter<'n, Node>,
    next: usize,
}

impl<'n> SeqAccess<'n> for List<'_, 'n> {
    type Error = DeserializeError;

    fn next_element_seed<T: DeserializeSeed<'n>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeserializeError> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let key = format!("{}[{}]", self.of.key, self.next);
        self.next += 1;
        seed.deserialize(self.of.child(node, key)).map(Some)
    }
}

struct Map<'a, 'n> {
    of: &'a Reader<'n>,
    entries: std::slice::Iter<'n, Entry>,
    current: Option<&'n Entry>,
    /// The fields of a struct; `None` for a free map.
    fields: Option<&'static [&'static str]>,
}

impl<'n> MapAccess<'n> for Map<'_, 'n> {
    type Error = DeserializeError;

    fn next_key_seed<K: DeserializeSeed<'n>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeserializeError> {
        for entry in self.entries.by_ref() {
            match self.fields {
                Some(fields) if !fields.contains(&entry.key.as_str()) => {
                    self.of.note_unknown(entry, fields);
                }
                _ => {
                    self.current = Some(entry);
                    return seed.deserialize(entry.key.as_str().into_deserializer()).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'n>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DeserializeError> {
        let Some(entry) = self.current.take() else {
            return Err(DeserializeError::custom("a value was asked for before its key"));
        };
        let key = join(&self.of.key, &entry.key);
        seed.deserialize(self.of.child(&entry.node, key.clone()))
            .map_err(|error| error.at(&key, entry.line))
    }
}

/// The name of an enum variant; our variants carry no data.
struct Name<'n>(&'n str);

impl<'n> EnumAccess<'n> for Name<'n> {
    type Error = DeserializeError;
    type Variant = Unit;

    fn variant_seed<V: DeserializeSeed<'n>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Unit), DeserializeError> {
        let deserializer: de::value::StrDeserializer<'_, DeserializeError> =
            self.0.into_deserializer();
        Ok((seed.deserialize(deserializer)?, Unit))
    }
}

struct Unit;

impl<'n> VariantAccess<'n> for Unit {
    type Error = DeserializeError;

    fn unit_variant(self) -> Result<(), DeserializeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'n>>(
        self,
        _: T,
    ) -> Result<T::Value, DeserializeError> {
        Err(DeserializeError::custom("expected a name"))
    }

    fn tuple_variant<V: Visitor<'n>>(self, _: usize, _: V) -> Result<V::Value, DeserializeError> {
        Err(DeserializeError::custom("expected a name"))
    }

    fn struct_variant<V: Visitor<'n>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, DeserializeError> {
        Err(DeserializeError::custom("expected a name"))
    }
}
