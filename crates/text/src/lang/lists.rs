//! A list of entries for every key.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Error};
use strum::VariantArray;

/// A list of entries for every key of an enum. A file must name each of them; an empty list says that the language has
/// nothing there.
pub(crate) struct Lists<K>(BTreeMap<K, Vec<String>>);

impl<K: Copy + Ord> Lists<K> {
    /// The entries of a key.
    pub(crate) fn of(&self, key: K) -> &[String] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    /// All entries with their keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (K, &str)> {
        self.0.iter().flat_map(|(key, list)| list.iter().map(|entry| (*key, entry.as_str())))
    }
}

impl<'de, K> Deserialize<'de> for Lists<K>
where
    K: Copy + Ord + Deserialize<'de> + VariantArray + Into<&'static str> + 'static,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lists = BTreeMap::deserialize(deserializer)?;
        match K::VARIANTS.iter().find(|key| !lists.contains_key(*key)) {
            Some(missing) => {
                let name: &'static str = (*missing).into();
                Err(D::Error::custom(format!("the list `{name}` is missing")))
            }
            None => Ok(Self(lists)),
        }
    }
}
