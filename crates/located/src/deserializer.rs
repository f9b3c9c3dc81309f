//! A serde deserializer over a tree. It differs from those of the formats in what it refuses:
//! unknown keys in every struct, and a list in place of a struct, whose items serde would assign to
//! the fields by position.

use std::cell::RefCell;

use serde::{
    de::{self, Deserializer, Error as _, Unexpected, Visitor},
    forward_to_deserialize_any,
};

use crate::{
    access::{Items, Members, Parts},
    error::{Cause, Error, Errors, Found},
    flatten::FLATTENED,
    node::{Key, Node, Value},
    path::Path,
    reader::Reader,
    variant::Variant,
};

/// Whole numbers that an `f64` represents exactly.
const WHOLE: std::ops::Range<f64> = 0.0..9_007_199_254_740_992.0;

/// Deserializes a tree.
///
/// # Errors
/// The unknown keys up to the first value that does not fit, and that value.
pub fn read<'t, T: de::Deserialize<'t>>(root: &'t Node) -> Result<T, Errors> {
    let unknown = RefCell::new(Vec::new());
    let reader = Reader { node: root, path: &Path::Root, unknown: &unknown, part: false };
    let result = T::deserialize(reader);
    let mut unknown = unknown.into_inner().into_iter();
    match (unknown.next(), result) {
        (None, Ok(read)) => Ok(read),
        (None, Err(first)) => Err(Errors { first, others: Vec::new() }),
        (Some(first), result) => {
            Err(Errors { first, others: unknown.chain(result.err()).collect() })
        }
    }
}

impl<'t> Reader<'t, '_> {
    /// Parses a scalar from a string; `None` if the value is not [`Value::Spelt`].
    fn spelt<V: Visitor<'t>, T: std::str::FromStr>(&self, visitor: &V) -> Option<Result<T, Error>> {
        let Value::Spelt(text) = &self.node.value else { return None };
        let wrong = || Cause::WrongType((visitor as &dyn de::Expected).into(), Found::Spelt);
        Some(text.trim().parse().or_else(|_| self.refused(wrong())))
    }

    fn whole_number<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        if let Some(value) = self.spelt(&visitor) {
            return self.placed(visitor.visit_u64(value?));
        }
        match self.node.value {
            // JSON does not distinguish 5.0 from 5, and some clients write all numbers that way.
            Value::Float(value) if value.fract() == 0.0 && WHOLE.contains(&value) => {
                self.placed(visitor.visit_u64(value as u64))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// A number that is finite as `T` or as `f64`.
    fn number<V: Visitor<'t>>(
        self,
        visitor: V,
        is_finite: fn(f64) -> bool,
    ) -> Result<V::Value, Error> {
        let value = match (self.spelt(&visitor), &self.node.value) {
            (Some(value), _) => value?,
            (None, Value::Float(value)) => *value,
            (None, _) => return self.deserialize_any(visitor),
        };
        if !is_finite(value) {
            return self.refused(Cause::NotFinite);
        }
        self.placed(visitor.visit_f64(value))
    }
}

impl<'t> Deserializer<'t> for Reader<'t, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        let result = match &self.node.value {
            Value::Empty | Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Unsigned(value) => visitor.visit_u64(*value),
            Value::Signed(value) => visitor.visit_i64(*value),
            Value::Float(value) if !value.is_finite() => Err(Cause::NotFinite.into()),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) | Value::Spelt(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items::of(self, items)),
            Value::Map(members) => visitor.visit_map(Members::of(self, members, None)),
        };
        self.placed(result)
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.spelt(&visitor) {
            Some(value) => self.placed(visitor.visit_bool(value?)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u16<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        self.whole_number(visitor)
    }

    fn deserialize_u32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        self.whole_number(visitor)
    }

    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        self.whole_number(visitor)
    }

    fn deserialize_f32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(visitor, |value| (value as f32).is_finite())
    }

    fn deserialize_f64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(visitor, f64::is_finite)
    }

    /// For strings with a form: times. Their parser reports its own grammar; the expected form
    /// helps more.
    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        let (Value::Text(text) | Value::Spelt(text)) = &self.node.value else {
            return self.deserialize_any(visitor);
        };
        let wrong = Cause::WrongForm((&visitor as &dyn de::Expected).into());
        visitor.visit_borrowed_str(text).or_else(|_: Error| self.refused(wrong))
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Empty | Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Empty => self.placed(visitor.visit_seq(Items::of(self, &[]))),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let members = match &self.node.value {
            Value::Map(members) => members.as_slice(),
            Value::Empty => &[],
            Value::List(_) => {
                return self.placed(Err(Error::invalid_type(Unexpected::Seq, &visitor)));
            }
            _ => return self.deserialize_any(visitor),
        };
        if !self.part {
            self.note_unknown(members, fields);
        }
        self.placed(if name == FLATTENED {
            visitor.visit_seq(Parts(Self { part: true, ..self }))
        } else {
            visitor.visit_map(Members::of(self, members, Some(fields)))
        })
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let variant = match &self.node.value {
            Value::Text(name) | Value::Spelt(name) => Variant { of: self, name, value: None },
            Value::Map(members) => match members.as_slice() {
                [(Key { name, .. }, value)] => Variant { of: self, name, value: Some(value) },
                _ => return self.refused(Cause::NotOneMember(known)),
            },
            _ => return self.refused(Cause::NotOneOf { written: None, known }),
        };
        self.placed(visitor.visit_enum(variant))
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.placed(visitor.visit_newtype_struct(self))
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        i8 i16 i32 i64 i128 u8 u128 char string bytes byte_buf unit unit_struct tuple tuple_struct
        map identifier ignored_any
    }
}
