//! Deserializes a tree into a request type, so that every error names its member. A list in place
//! of an object is refused: serde would assign its items to the fields by position.

use serde::{
    de::{
        self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};

use crate::api::read::{deserialize_error::DeserializeError, value::RequestValue};

/// Deserializes a request.
pub(crate) fn read<'t, T: de::Deserialize<'t>>(
    value: &'t RequestValue,
) -> Result<T, DeserializeError> {
    T::deserialize(Reader(value))
}

/// Whole numbers that an `f64` represents exactly.
const WHOLE: std::ops::Range<f64> = 0.0..9_007_199_254_740_992.0;

#[derive(Clone, Copy)]
struct Reader<'t>(&'t RequestValue);

impl<'t> Reader<'t> {
    fn whole_number<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            RequestValue::Spelt(text) => match text.parse() {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => Err(DeserializeError::wanted(&visitor)),
            },
            // JSON does not distinguish 5.0 from 5, and some clients write all numbers that way.
            RequestValue::Number(number) => match number.as_f64() {
                Some(value)
                    if number.is_f64() && value.fract() == 0.0 && WHOLE.contains(&value) =>
                {
                    visitor.visit_u64(value as u64)
                }
                _ => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }
}

impl<'t> Deserializer<'t> for Reader<'t> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            RequestValue::Null => visitor.visit_unit(),
            RequestValue::Bool(value) => visitor.visit_bool(*value),
            RequestValue::Number(number) => {
                match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(value), ..) => visitor.visit_u64(value),
                    (_, Some(value), _) => visitor.visit_i64(value),
                    (.., value) => visitor.visit_f64(value.unwrap_or_default()),
                }
            }
            RequestValue::Text(text) | RequestValue::Spelt(text) => {
                visitor.visit_borrowed_str(text)
            }
            RequestValue::List(items) => visitor.visit_seq(Items { items: items.iter(), next: 0 }),
            RequestValue::Object(members) => {
                visitor.visit_map(Members { members: members.iter(), current: None })
            }
        }
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            RequestValue::Spelt(text) => match text.parse() {
                Ok(value) => visitor.visit_bool(value),
                Err(_) => Err(DeserializeError::wanted(&visitor)),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        self.whole_number(visitor)
    }

    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        self.whole_number(visitor)
    }

    /// For strings with a format: times.
    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        let (RequestValue::Text(text) | RequestValue::Spelt(text)) = self.0 else {
            return self.deserialize_any(visitor);
        };
        // The time parser reports its own grammar; the expected format is more helpful.
        let wanted = DeserializeError::wanted(&visitor);
        visitor.visit_borrowed_str(text).map_err(|_: DeserializeError| wanted)
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            RequestValue::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        match self.0 {
            RequestValue::List(_) => Err(DeserializeError::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        match self.0 {
            RequestValue::Text(name) | RequestValue::Spelt(name) => {
                visitor.visit_enum(Variant { name, value: None })
            }
            RequestValue::Object(members) => match members.as_slice() {
                [(name, value)] => visitor.visit_enum(Variant { name, value: Some(value) }),
                _ => Err(DeserializeError::new(format_args!(
                    "must have exactly one member, one of {}",
                    known.join(", ")
                ))),
            },
            _ => Err(DeserializeError::unknown_variant("", known)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'t> {
    items: std::slice::Iter<'t, RequestValue>,
    next: usize,
}

impl<'t> SeqAccess<'t> for Items<'t> {
    type Error = DeserializeError;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DeserializeError> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(Reader(item)).map(Some).map_err(|error| error.in_item(index))
    }
}

struct Members<'t> {
    members: std::slice::Iter<'t, (String, RequestValue)>,
    current: Option<&'t (String, RequestValue)>,
}

impl<'t> MapAccess<'t> for Members<'t> {
    type Error = DeserializeError;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DeserializeError> {
        self.current = self.members.next();
        let Some((name, _)) = self.current else { return Ok(None) };
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DeserializeError> {
        let Some((name, value)) = self.current.take() else {
            return Err(DeserializeError::new("value requested before its key"));
        };
        seed.deserialize(Reader(value)).map_err(|error| error.in_member(name))
    }
}

/// An enum variant: a name, or an object with the name as its only member.
struct Variant<'t> {
    name: &'t str,
    value: Option<&'t RequestValue>,
}

impl<'t> EnumAccess<'t> for Variant<'t> {
    type Error = DeserializeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'t>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), DeserializeError> {
        let name: de::value::StrDeserializer<'_, DeserializeError> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|error| self.placed(error))?;
        Ok((variant, self))
    }
}

impl<'t> Variant<'t> {
    fn placed(&self, error: DeserializeError) -> DeserializeError {
        if self.value.is_some() { error.in_member(self.name) } else { error }
    }

    fn value(&self) -> Result<Reader<'t>, DeserializeError> {
        let name = self.name;
        let bare = || DeserializeError::new(format_args!("must be an object: {{\"{name}\": …}}"));
        self.value.map(Reader).ok_or_else(bare)
    }
}

impl<'t> VariantAccess<'t> for Variant<'t> {
    type Error = DeserializeError;

    fn unit_variant(self) -> Result<(), DeserializeError> {
        let alone = || DeserializeError::new(format_args!("must be the string \"{}\"", self.name));
        self.value.map_or(Ok(()), |_| Err(self.placed(alone())))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(
        self,
        seed: T,
    ) -> Result<T::Value, DeserializeError> {
        seed.deserialize(self.value()?).map_err(|error| self.placed(error))
    }

    fn tuple_variant<V: Visitor<'t>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        self.value()?.deserialize_any(visitor).map_err(|error| self.placed(error))
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        let read = self.value()?.deserialize_struct("", fields, visitor);
        read.map_err(|error| self.placed(error))
    }
}
