//! Enum variants: a name, or a map with the name as its only key.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
    value::StrDeserializer,
};

use crate::{
    error::{Cause, Error},
    node::Node,
    path::Path,
    reader::Reader,
};

pub(crate) struct Variant<'t, 'p> {
    pub(crate) of: Reader<'t, 'p>,
    pub(crate) name: &'t str,
    pub(crate) value: Option<&'t Node>,
}

impl<'t> EnumAccess<'t> for Variant<'t, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'t>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name: StrDeserializer<'_, Error> = self.name.into_deserializer();
        let variant = seed.deserialize(name);
        let variant = match self.value {
            Some(node) => variant.map_err(|error| error.at(self.path(), node.line)),
            None => variant,
        };
        Ok((variant?, self))
    }
}

impl<'t> Variant<'t, '_> {
    fn path(&self) -> Path<'_> {
        Path::Member(self.of.path, self.name)
    }

    fn read<T>(&self, read: impl FnOnce(Reader<'t, '_>) -> Result<T, Error>) -> Result<T, Error> {
        let Some(node) = self.value else { return Err(Cause::BareName(self.name.into()).into()) };
        let path = self.path();
        let value = self.of.child(node, &path);
        value.placed(read(value))
    }
}

impl<'t> VariantAccess<'t> for Variant<'t, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if self.value.is_none() {
            return Ok(());
        }
        self.read(|_| Err(Cause::NotBareName(self.name.into()).into()))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(self, seed: T) -> Result<T::Value, Error> {
        self.read(|value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'t>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.read(|value| value.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.read(|value| value.deserialize_struct("", fields, visitor))
    }
}
