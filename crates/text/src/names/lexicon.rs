//! The words and phrases of names.txt.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::{
    lists::sections,
    names::words::{Word, words},
};

pub(super) static LEXICON: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::of(include_str!("names.txt")));

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Person,
    Pet,
    Place,
    Organisation,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Pet => "pet",
            Self::Place => "place",
            Self::Organisation => "organisation",
        }
    }
}

/// Sections of single words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Words {
    NounsAreCapital,
    OnlyNamesAreCapital,
    My,
    A,
    Person,
    People,
    Pet,
    Pets,
    Is,
    And,
    Title,
    Within,
    Article,
    OnlyBeside,
    NotNames,
}

/// What a phrase before a name says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phrase {
    Called,
    OwnName,
    LivesIn,
    ComesFrom,
    WorksAt,
    Something,
}

const WORDS: [(&str, Words); 15] = [
    ("nouns_are_capital", Words::NounsAreCapital),
    ("only_names_are_capital", Words::OnlyNamesAreCapital),
    ("my", Words::My),
    ("a", Words::A),
    ("person", Words::Person),
    ("people", Words::People),
    ("pet", Words::Pet),
    ("pets", Words::Pets),
    ("is", Words::Is),
    ("and", Words::And),
    ("title", Words::Title),
    ("within", Words::Within),
    ("article", Words::Article),
    ("only_beside", Words::OnlyBeside),
    ("not_names", Words::NotNames),
];

const PHRASES: [(&str, Phrase); 6] = [
    ("called", Phrase::Called),
    ("own_name", Phrase::OwnName),
    ("lives_in", Phrase::LivesIn),
    ("comes_from", Phrase::ComesFrom),
    ("works_at", Phrase::WorksAt),
    ("something", Phrase::Something),
];

impl Phrase {
    /// What is named after it.
    pub(super) fn kind(self) -> Option<Kind> {
        match self {
            Self::OwnName => Some(Kind::Person),
            Self::LivesIn | Self::ComesFrom => Some(Kind::Place),
            Self::WorksAt => Some(Kind::Organisation),
            Self::Called | Self::Something => None,
        }
    }

    /// How whoever is named before it stands to what is named after it.
    pub(super) fn predicate(self) -> Option<&'static str> {
        match self {
            Self::LivesIn => Some("lives_in"),
            Self::ComesFrom => Some("comes_from"),
            Self::WorksAt => Some("works_at"),
            Self::OwnName | Self::Called | Self::Something => None,
        }
    }
}

pub(super) struct Lexicon {
    words: HashMap<Words, HashSet<String>>,
    phrases: HashMap<Vec<String>, Phrase>,
    /// Words of the longest phrase.
    longest: usize,
}

impl Lexicon {
    fn of(list: &'static str) -> Self {
        let mut it = Self { words: HashMap::new(), phrases: HashMap::new(), longest: 0 };
        for (name, lines) in sections(list) {
            let entries = lines.iter().flat_map(|line| line.split('|'));
            let entries = entries.map(|entry| entry.trim()).filter(|entry| !entry.is_empty());
            let entries =
                entries.map(|entry| words(entry).into_iter().map(|w| w.lower).collect::<Vec<_>>());
            if let Some((_, kind)) = WORDS.iter().find(|(known, _)| *known == name) {
                it.words.entry(*kind).or_default().extend(entries.flatten());
            } else if let Some((_, kind)) = PHRASES.iter().find(|(known, _)| *known == name) {
                for entry in entries {
                    it.longest = it.longest.max(entry.len());
                    it.phrases.insert(entry, *kind);
                }
            }
        }
        it
    }

    /// Whether a word is listed so.
    pub(super) fn is(&self, word: &Word, kind: Words) -> bool {
        self.lists(&word.lower, kind)
    }

    /// The same for what is in lower case already.
    pub(super) fn lists(&self, lower: &str, kind: Words) -> bool {
        self.words.get(&kind).is_some_and(|words| words.contains(lower))
    }

    /// The longest phrase that these words end with, and how many of them it is.
    pub(super) fn phrase_before(
        &self,
        words: &[Word],
        wanted: impl Fn(Phrase) -> bool,
    ) -> Option<(Phrase, usize)> {
        (1..=self.longest.min(words.len())).rev().find_map(|count| {
            let phrase = &words[words.len() - count..];
            if !phrase[1..].iter().all(Word::follows) {
                return None;
            }
            let lower: Vec<String> = phrase.iter().map(|word| word.lower.clone()).collect();
            self.phrases.get(&lower).filter(|found| wanted(**found)).map(|found| (*found, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_read() {
        let known = WORDS.iter().map(|(name, _)| name).chain(PHRASES.iter().map(|(name, _)| name));
        let known: HashSet<&str> = known.copied().collect();
        let listed: Vec<_> = sections(include_str!("names.txt"));
        assert_eq!(listed.iter().map(|(name, _)| *name).collect::<HashSet<_>>(), known);
        assert_eq!(listed.len(), known.len());
        assert!(WORDS.iter().all(|(_, kind)| LEXICON.words.contains_key(kind)));
    }
}
