//! The words and phrases around names, of the section `names` in `lang/`.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::{
    lang,
    names::words::{Word, words},
};

pub(super) use crate::lang::keys::NameWords as Words;

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

/// The kind of a named thing.
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

/// A phrase before a name that tells its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phrase {
    Called,
    OwnName,
    LivesIn,
    ComesFrom,
    WorksAt,
    Something,
}

impl Phrase {
    /// The phrases of a list; `None` for a list of single words.
    fn listed_in(list: Words) -> Option<Self> {
        match list {
            Words::Called => Some(Self::Called),
            Words::OwnName => Some(Self::OwnName),
            Words::LivesIn => Some(Self::LivesIn),
            Words::ComesFrom => Some(Self::ComesFrom),
            Words::WorksAt => Some(Self::WorksAt),
            Words::Something => Some(Self::Something),
            _ => None,
        }
    }

    /// The kind of the name after it.
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
    fn read() -> Self {
        let mut it = Self { words: HashMap::new(), phrases: HashMap::new(), longest: 0 };
        for (list, entry) in lang::files().flat_map(|file| file.names.entries()) {
            let entry = words(entry).into_iter().map(|word| word.lower);
            if let Some(phrase) = Phrase::listed_in(list) {
                let entry: Vec<String> = entry.collect();
                it.longest = it.longest.max(entry.len());
                it.phrases.insert(entry, phrase);
            } else {
                it.words.entry(list).or_default().extend(entry);
            }
        }
        it
    }

    /// Whether a word is listed so.
    pub(super) fn is(&self, word: &Word, kind: Words) -> bool {
        self.lists(&word.lower, kind)
    }

    /// Whether a list of this kind has a word that is in lower case already.
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
