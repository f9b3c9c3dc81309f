//! From the tree of what a caller sent to the type of what may be asked, so that every mistake is told with the member
//! it is in. Where members are wanted, a list is refused: serde would take its items for them, by their place.

use serde::{
    de::{
        self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};

use super::{misfit::Misfit, tree::Tree};

/// Reads what was asked.
pub(super) fn read<'t, T: de::Deserialize<'t>>(tree: &'t Tree) -> Result<T, Misfit> {
    T::deserialize(Reader(tree))
}

/// Whole numbers that an `f64` tells apart.
const WHOLE: std::ops::Range<f64> = 0.0..9_007_199_254_740_992.0;

#[derive(Clone, Copy)]
struct Reader<'t>(&'t Tree);

impl<'t> Reader<'t> {
    fn whole_number<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Tree::Spelt(text) => match text.parse() {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => Err(Misfit::wanted(&visitor)),
            },
            // JSON does not tell 5.0 from 5, and some clients write every number so.
            Tree::Number(number) => match number.as_f64() {
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
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(value) => visitor.visit_bool(*value),
            Tree::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), ..) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (.., value) => visitor.visit_f64(value.unwrap_or_default()),
            },
            Tree::Text(text) | Tree::Spelt(text) => visitor.visit_borrowed_str(text),
            Tree::List(items) => visitor.visit_seq(Items { items: items.iter(), next: 0 }),
            Tree::Object(members) => {
                visitor.visit_map(Members { members: members.iter(), current: None })
            }
        }
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Tree::Spelt(text) => match text.parse() {
                Ok(value) => visitor.visit_bool(value),
                Err(_) => Err(Misfit::wanted(&visitor)),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.whole_number(visitor)
    }

    fn deserialize_u64<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.whole_number(visitor)
    }

    /// Of strings that mean something: times.
    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let (Tree::Text(text) | Tree::Spelt(text)) = self.0 else {
            return self.deserialize_any(visitor);
        };
        // The reader of a time tells of its own grammar; what is wanted says more.
        let wanted = Misfit::wanted(&visitor);
        visitor.visit_borrowed_str(text).map_err(|_: Misfit| wanted)
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Tree::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.0 {
            Tree::List(_) => Err(Misfit::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.0 {
            Tree::Text(name) | Tree::Spelt(name) => {
                visitor.visit_enum(Variant { name, value: None })
            }
            Tree::Object(members) => match members.as_slice() {
                [(name, value)] => visitor.visit_enum(Variant { name, value: Some(value) }),
                _ => Err(Misfit::new(format_args!(
                    "must have exactly one member, one of {}",
                    known.join(", ")
                ))),
            },
            _ => Err(Misfit::unknown_variant("", known)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'t> {
    items: std::slice::Iter<'t, Tree>,
    next: usize,
}

impl<'t> SeqAccess<'t> for Items<'t> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(Reader(item)).map(Some).map_err(|misfit| misfit.in_item(index))
    }
}

struct Members<'t> {
    members: std::slice::Iter<'t, (String, Tree)>,
    current: Option<&'t (String, Tree)>,
}

impl<'t> MapAccess<'t> for Members<'t> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        self.current = self.members.next();
        let Some((name, _)) = self.current else { return Ok(None) };
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let Some((name, value)) = self.current.take() else {
            return Err(Misfit::new("was asked for before its name"));
        };
        seed.deserialize(Reader(value)).map_err(|misfit| misfit.in_member(name))
    }
}

/// One of several: a name alone, or the only member of an object with what it takes.
struct Variant<'t> {
    name: &'t str,
    value: Option<&'t Tree>,
}

impl<'t> EnumAccess<'t> for Variant<'t> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'t>>(self, seed: V) -> Result<(V::Value, Self), Misfit> {
        let name: de::value::StrDeserializer<'_, Misfit> = self.name.into_deserializer();
        let variant = seed.deserialize(name).map_err(|misfit| self.placed(misfit))?;
        Ok((variant, self))
    }
}

impl<'t> Variant<'t> {
    fn placed(&self, misfit: Misfit) -> Misfit {
        if self.value.is_some() { misfit.in_member(self.name) } else { misfit }
    }

    fn value(&self) -> Result<Reader<'t>, Misfit> {
        let name = self.name;
        let bare = || Misfit::new(format_args!("must be an object: {{\"{name}\": …}}"));
        self.value.map(Reader).ok_or_else(bare)
    }
}

impl<'t> VariantAccess<'t> for Variant<'t> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        let alone = || Misfit::new(format_args!("must be the string \"{}\"", self.name));
        self.value.map_or(Ok(()), |_| Err(self.placed(alone())))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(self, seed: T) -> Result<T::Value, Misfit> {
        seed.deserialize(self.value()?).map_err(|misfit| self.placed(misfit))
    }

    fn tuple_variant<V: Visitor<'t>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.value()?.deserialize_any(visitor).map_err(|misfit| self.placed(misfit))
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let read = self.value()?.deserialize_struct("", fields, visitor);
        read.map_err(|misfit| self.placed(misfit))
    }
}
