//! Words that tell what a sentence does, found by the list in cues.txt.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use crate::{
    lists::sections,
    normal::{is_cjk, plain, tokens},
};

static CUES: LazyLock<Cues> = LazyLock::new(|| Cues::of(include_str!("cues.txt")));

/// The cues of a text, by name.
pub struct Found {
    /// The cues that count wherever they are.
    pub anywhere: BTreeSet<&'static str>,
    /// Those it begins with.
    pub first: BTreeSet<&'static str>,
}

/// A list of cues, ready to be looked for.
pub struct Cues {
    /// Words and phrases, as tokens.
    phrases: HashMap<Vec<String>, BTreeSet<&'static str>>,
    /// Tokens of the longest phrase.
    longest: usize,
    /// Beginnings of words.
    prefixes: Vec<(String, &'static str)>,
    /// Parts of a text in Chinese or Japanese.
    parts: Vec<(String, &'static str)>,
}

/// The cues in a plain text with these tokens.
pub fn find(plain: &str, tokens: &[String]) -> Found {
    CUES.find(plain, tokens)
}

impl Cues {
    /// Reads a list.
    pub fn of(list: &'static str) -> Self {
        let (mut prefixes, mut parts) = (Vec::new(), Vec::new());
        let mut phrases: HashMap<Vec<String>, BTreeSet<&str>> = HashMap::new();
        for (name, lines) in sections(list) {
            for entry in lines.iter().flat_map(|line| line.split('|')).map(|e| plain(e.trim())) {
                if entry.chars().any(is_cjk) {
                    parts.push((entry, name));
                } else if let Some(prefix) = entry.strip_suffix('*') {
                    prefixes.push((prefix.to_owned(), name));
                } else if !entry.is_empty() {
                    phrases.entry(tokens(&entry)).or_default().insert(name);
                }
            }
        }
        let longest = phrases.keys().map(Vec::len).max().unwrap_or(0);
        Self { phrases, longest, prefixes, parts }
    }

    /// The cues in a plain text with these tokens.
    pub fn find(&self, plain: &str, tokens: &[String]) -> Found {
        let mut found = Found { anywhere: BTreeSet::new(), first: BTreeSet::new() };
        let mut note = |name, first| {
            found.anywhere.insert(name);
            if first {
                found.first.insert(name);
            }
        };
        for at in 0..tokens.len() {
            for end in at + 1..=(at + self.longest).min(tokens.len()) {
                for name in self.phrases.get(&tokens[at..end]).into_iter().flatten() {
                    note(name, at == 0);
                }
            }
            for (prefix, name) in &self.prefixes {
                if tokens[at].starts_with(prefix) {
                    note(name, at == 0);
                }
            }
        }
        for (part, name) in &self.parts {
            if let Some(at) = plain.find(part) {
                note(name, at == 0);
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
        assert!(found.anywhere.contains("health") && found.first.contains("my"));
        assert!(!found.first.contains("health"));
        assert!(of("From now on, be brief").first.contains("standing"));
        assert!(of("我对芒果过敏").anywhere.contains("health"));
        assert!(!of("the mystery of the owl").anywhere.contains("my"));
    }
}
