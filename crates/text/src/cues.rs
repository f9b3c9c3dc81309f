//! Words that tell what a sentence does, and the search for the words and phrases of such lists.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

pub use crate::lang::keys::Cue;
use crate::{
    lang,
    normal::{is_cjk, plain, tokens},
};

static CUES: LazyLock<Phrases<Cue>> =
    LazyLock::new(|| Phrases::of(lang::files().flat_map(|file| file.cues.entries())));

/// The keys whose words a text has.
pub struct Found<K> {
    /// Those that count wherever they are.
    pub anywhere: BTreeSet<K>,
    /// Those it begins with.
    pub first: BTreeSet<K>,
}

/// Words and phrases, each with the key of its list, ready to be looked for.
pub(crate) struct Phrases<K> {
    /// Words and phrases, as tokens.
    phrases: HashMap<Vec<String>, BTreeSet<K>>,
    /// Tokens of the longest phrase.
    longest: usize,
    /// Beginnings of words.
    prefixes: Vec<(String, K)>,
    /// Parts of a text in Chinese or Japanese.
    parts: Vec<(String, K)>,
}

/// The cues in a plain text with these tokens.
#[must_use]
pub fn find(plain: &str, tokens: &[String]) -> Found<Cue> {
    CUES.find(plain, tokens)
}

impl<K: Copy + Ord> Phrases<K> {
    /// Reads entries: words or phrases in lower case without apostrophes. "*" at the end stands for any ending of that
    /// word. Entries in Chinese or Japanese script are looked for anywhere.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = (K, &'a str)>) -> Self {
        let (mut prefixes, mut parts) = (Vec::new(), Vec::new());
        let mut phrases: HashMap<Vec<String>, BTreeSet<K>> = HashMap::new();
        for (key, entry) in entries {
            let entry = plain(entry);
            if entry.chars().any(is_cjk) {
                parts.push((entry, key));
            } else if let Some(prefix) = entry.strip_suffix('*') {
                prefixes.push((prefix.to_owned(), key));
            } else {
                phrases.entry(tokens(&entry)).or_default().insert(key);
            }
        }
        let longest = phrases.keys().map(Vec::len).max().unwrap_or(0);
        Self { phrases, longest, prefixes, parts }
    }

    /// The keys of what a plain text with these tokens has.
    pub(crate) fn find(&self, plain: &str, tokens: &[String]) -> Found<K> {
        let mut found = Found { anywhere: BTreeSet::new(), first: BTreeSet::new() };
        let mut note = |key, first| {
            found.anywhere.insert(key);
            if first {
                found.first.insert(key);
            }
        };
        for at in 0..tokens.len() {
            for end in at + 1..=(at + self.longest).min(tokens.len()) {
                for key in self.phrases.get(&tokens[at..end]).into_iter().flatten() {
                    note(*key, at == 0);
                }
            }
            for (prefix, key) in &self.prefixes {
                if tokens[at].starts_with(prefix) {
                    note(*key, at == 0);
                }
            }
        }
        for (part, key) in &self.parts {
            if let Some(at) = plain.find(part) {
                note(*key, at == 0);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_found_as_words_phrases_beginnings_and_parts() {
        let of = |text: &str| {
            let plain = plain(text);
            find(&plain, &tokens(&plain))
        };
        let found = of("My sister's allergic to nuts");
        assert!(found.anywhere.contains(&Cue::Health) && found.first.contains(&Cue::My));
        assert!(!found.first.contains(&Cue::Health));
        assert!(of("From now on, be brief").first.contains(&Cue::Standing));
        assert!(of("我对芒果过敏").anywhere.contains(&Cue::Health));
        assert!(!of("the mystery of the owl").anywhere.contains(&Cue::My));
    }
}
