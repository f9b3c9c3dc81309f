//! Names of times, looked up however they are typed.

use std::collections::HashMap;

use crate::time::fold::fold;

/// The meanings of names: whole names, and the beginnings of names that have endings. All of them
/// are folded.
pub(crate) struct Names<T> {
    whole: HashMap<String, T>,
    beginnings: Vec<(String, T)>,
}

impl<T: Copy> Names<T> {
    /// Collects names with their meanings. A `*` at the end of a name stands for any ending; of equal whole names the last
    /// counts, of beginnings the first that fits.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = (&'a str, T)>) -> Self {
        let mut all = Self { whole: HashMap::new(), beginnings: Vec::new() };
        for (name, meaning) in names {
            match name.strip_suffix('*') {
                Some(beginning) => all.beginnings.push((fold(beginning), meaning)),
                None => drop(all.whole.insert(fold(name), meaning)),
            }
        }
        all
    }

    /// The meaning of a folded word.
    pub(crate) fn get(&self, word: &str) -> Option<T> {
        let begins = || self.beginnings.iter().find(|(name, _)| word.starts_with(name.as_str()));
        self.whole.get(word).copied().or_else(|| begins().map(|(_, meaning)| *meaning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole_or_by_its_beginning_whatever_its_accents() {
        let names = Names::of([("märz", 3), ("январ*", 1)]);
        assert_eq!(
            (names.get("marz"), names.get("января"), names.get("mar")),
            (Some(3), Some(1), None)
        );
    }
}
