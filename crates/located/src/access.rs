//! The items of a list, the members of a map, and the parts of a flattened struct.

use std::{iter::Enumerate, slice::Iter};

use serde::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess};

use crate::{
    error::Error,
    node::{Key, Node},
    path::Path,
    reader::Reader,
};

pub(crate) struct Items<'t, 'p> {
    of: Reader<'t, 'p>,
    items: Enumerate<Iter<'t, Node>>,
}

impl<'t, 'p> Items<'t, 'p> {
    pub(crate) fn of(of: Reader<'t, 'p>, items: &'t [Node]) -> Self {
        Self { of, items: items.iter().enumerate() }
    }
}

impl<'t> SeqAccess<'t> for Items<'t, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        let path = Path::Item(self.of.path, index);
        let item = self.of.child(node, &path);
        item.placed(seed.deserialize(item)).map(Some)
    }
}

pub(crate) struct Members<'t, 'p> {
    of: Reader<'t, 'p>,
    members: Iter<'t, (Key, Node)>,
    current: Option<&'t (Key, Node)>,
    /// The fields of a struct; `None` for a free map.
    fields: Option<&'static [&'static str]>,
}

impl<'t, 'p> Members<'t, 'p> {
    pub(crate) fn of(
        of: Reader<'t, 'p>,
        members: &'t [(Key, Node)],
        fields: Option<&'static [&'static str]>,
    ) -> Self {
        Self { of, members: members.iter(), current: None, fields }
    }
}

impl<'t> MapAccess<'t> for Members<'t, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'t>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let known = |key: &Key| self.fields.is_none_or(|fields| fields.contains(&&*key.name));
        self.current = self.members.find(|(key, _)| known(key));
        let Some((key, _)) = self.current else { return Ok(None) };
        seed.deserialize(key.name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((key, node)) = self.current.take() else {
            return Err(Error::custom("a value was requested before its key"));
        };
        let path = Path::Member(self.of.path, &key.name);
        let value = self.of.child(node, &path);
        value.placed(seed.deserialize(value))
    }
}

/// The parts of a flattened struct: all of them read the same node.
pub(crate) struct Parts<'t, 'p>(pub(crate) Reader<'t, 'p>);

impl<'t> SeqAccess<'t> for Parts<'t, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'t>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        seed.deserialize(self.0).map(Some)
    }
}
