//! The names in one text: where a name begins and ends, and why it is one.

use crate::names::{
    lexicon::{Kind, LEXICON, Lexicon, Phrase, Words},
    words::{Word, words},
};

/// Portuguese puts articles before the names of people.
const OPENING_ARTICLES: [&str; 4] = ["o", "a", "os", "as"];

/// The longest name, in words; also bounds the work on a text full of capital letters.
const MAX_WORDS: usize = 8;

/// A name in a text.
#[derive(Debug)]
pub(super) struct Name {
    pub text: String,
    pub kind: Option<Kind>,
    /// Whether it is one without a look elsewhere.
    pub sure: bool,
    /// The word after it.
    pub end: usize,
    /// The phrase before it, and where the phrase begins.
    pub said: Option<(Phrase, usize)>,
    /// Whether those that are listed after it are of its kind.
    several: bool,
}

/// A text in words.
pub(super) struct Text {
    words: Vec<Word>,
    /// Whether a capital letter within a sentence means a name.
    capitals_tell: bool,
    lexicon: &'static Lexicon,
}

impl Text {
    pub(super) fn of(text: &str) -> Self {
        let lexicon = &*LEXICON;
        let words = words(text);
        let count = |kind| words.iter().filter(|word| lexicon.is(word, kind)).count();
        let capitals_tell = count(Words::OnlyNamesAreCapital) > count(Words::NounsAreCapital);
        Self { words, capitals_tell, lexicon }
    }

    /// Everything that may be a name, in order.
    pub(super) fn names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        if self.is_shouted() {
            return names;
        }
        let mut at = 0;
        while at < self.words.len() {
            let Some(end) = self.end_of_name(at) else {
                at += 1;
                continue;
            };
            let mut name = self.judged(at, end);
            if let Some(before) = names.last()
                && before.several
                && self.is_listed(before.end, at)
            {
                (name.kind, name.sure, name.several) = (before.kind, true, true);
            }
            if name.sure || self.capitals_tell {
                names.push(name);
                at = end;
            } else {
                // Any noun; a name may stand right behind it.
                at += 1;
            }
        }
        names
    }

    /// The capital letters of a title, or of everything, tell nothing.
    fn is_shouted(&self) -> bool {
        let within = |at: &usize| !self.opens(*at) && !self.is(*at, Words::NotNames);
        let capitals = (0..self.words.len()).filter(within).filter(|at| self.is_capital(*at));
        self.capitals_tell && self.words.len() >= 4 && capitals.count() * 2 > self.words.len()
    }

    fn is_capital(&self, at: usize) -> bool {
        self.words[at].text.starts_with(char::is_uppercase)
    }

    fn is(&self, at: usize, kind: Words) -> bool {
        self.words.get(at).is_some_and(|word| self.lexicon.is(word, kind))
    }

    fn follows(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(Word::follows)
    }

    /// Whether a sentence begins here, and not only after "Dr.".
    fn opens(&self, at: usize) -> bool {
        let titled = at > 0 && self.words[at].gap == ". " && self.is(at - 1, Words::Title);
        self.words[at].opens() && !titled
    }

    /// Where the name that begins at a word ends; `None` when none begins there.
    fn end_of_name(&self, start: usize) -> Option<usize> {
        // Abbreviations are names only where something says so.
        let abbreviations = self.said(start).is_some();
        let written = |at: usize| {
            self.words
                .get(at)
                .is_some_and(|word| word.is_name() || abbreviations && word.is_abbreviation())
        };
        let part = |at: usize| {
            // "Spanish-English" is no name either.
            let listed = |word: &str| self.lexicon.lists(word, Words::NotNames);
            written(at)
                && !self.words[at].lower.split('-').any(listed)
                && !self.is(at, Words::NotNames)
        };
        let before_name =
            self.opens(start) && OPENING_ARTICLES.contains(&&*self.words[start].lower);
        if !part(start) || before_name {
            return None;
        }
        let next = |at: usize| self.follows(at) && part(at);
        let small = |at: usize| self.follows(at) && self.is(at, Words::Within);
        // Rio de Janeiro is no month; and "Soy de Lima" is no name.
        let after_small = |at: usize| {
            let phrase = self.said(at).is_some_and(|(_, from)| from <= start);
            self.follows(at) && written(at) && !phrase
        };
        let mut end = start + 1;
        while end - start < MAX_WORDS {
            end += match () {
                () if next(end) => 1,
                () if small(end) && after_small(end + 1) => 2,
                () if small(end) && small(end + 1) && after_small(end + 2) => 3,
                () => break,
            };
        }
        let beside = |at| self.is(at, Words::OnlyBeside) || self.is(at, Words::Within);
        (!(start..end).all(beside)).then_some(end)
    }

    fn judged(&self, start: usize, end: usize) -> Name {
        let said = self.said(start);
        let titled = start > 0
            && self.is(start - 1, Words::Title)
            && (self.follows(start) || self.words[start].gap == ". ")
            // "dass meine Frau Angst hat"
            && !(start > 1 && self.is(start - 2, Words::My));
        let (told, kind, several) = match (self.presented(start, end), said) {
            (Some((kind, several)), _) => (true, Some(kind), several),
            (None, Some((phrase, _))) => (true, phrase.kind(), false),
            (None, None) if titled => (true, Some(Kind::Person), false),
            (None, None) => {
                let kind = self.explained(start, end);
                (kind.is_some(), kind, false)
            }
        };
        let numbered =
            self.follows(end) && self.words[end].text.starts_with(|c: char| c.is_ascii_digit());
        // "Senior Product Manager", "Boxing Day"
        let continued = start > 1
            && self.follows(start)
            && !self.opens(start - 1)
            && self.is(start - 1, Words::NotNames)
            && self.is_capital(start - 1)
            && self.words[start - 1].text.len() > 1;
        let capital = self.capitals_tell && !self.opens(start) && !numbered && !continued;
        let mut text = String::new();
        for (place, word) in self.words[start..end].iter().enumerate() {
            text.push_str(if place == 0 { "" } else { &word.gap });
            text.push_str(&word.text);
        }
        Name { text, kind, sure: told || capital, end, said, several }
    }

    /// Reads the phrase before a name, and where it begins.
    fn said(&self, start: usize) -> Option<(Phrase, usize)> {
        if !self.follows(start) {
            return None;
        }
        let find = |end: usize| {
            let found = self.lexicon.phrase_before(&self.words[..end], |p| p != Phrase::Called);
            found.map(|(phrase, count)| (phrase, end - count))
        };
        let article = |at: usize| self.is(at, Words::Article) && self.follows(at);
        find(start).or_else(|| {
            let before = start.checked_sub(1).filter(|at| article(*at))?;
            find(before).filter(|(phrase, _)| phrase.kind() != Some(Kind::Person))
        })
    }

    /// "my sister Ana", "a dog called Rex", "our cats, Miso and Nori": of what
    /// kind the name is, and whether several are named.
    fn presented(&self, start: usize, end: usize) -> Option<(Kind, bool)> {
        let called = self.lexicon.phrase_before(&self.words[..start], |p| p == Phrase::Called);
        let called = called.filter(|_| self.follows(start)).map(|(_, count)| start - count);
        let noun = called.unwrap_or(start).checked_sub(1)?;
        let (kind, several) = self.kind_of(noun)?;
        let gap = self.words[noun + 1].gap.as_str();
        if !self.capitals_tell && self.opens(noun) {
            // "Oma Hilde wird neunzig", "Katze heißt Murkel"
            let fits = called.is_some() || gap == " " && self.goes_on_small(end);
            return (fits && !several).then_some((kind, several));
        }
        // The word that tells whose, with at most two between: "my oldest friend".
        let owner = (noun.saturating_sub(3)..noun).rev().find(|&at| {
            let whose = self.is(at, Words::My) || self.words[at].text == "'s";
            whose || (called.is_some() || several) && self.is(at, Words::A)
        })?;
        let joined = (owner + 1..=noun).all(|at| self.follows(at));
        let closed = !self.follows(end);
        let fits = match (called, several) {
            (Some(_), _) => matches!(gap, " " | "" | ", "),
            _ if !self.capitals_tell => {
                // Elsewhere the capital letter may be that of another noun:
                // "dass meine Mutter Krebs hat".
                gap == " " && self.opens(owner) && self.goes_on_small(end)
            }
            (None, true) => matches!(gap, " " | ", " | ": " | " : " | " (" | " - " | " – "),
            (None, false) => gap == " " || gap == ", " && closed,
        };
        (joined && fits).then_some((kind, several))
    }

    /// Whether no capital letter follows in the sentence's next word.
    fn goes_on_small(&self, at: usize) -> bool {
        !self.follows(at) || !self.is_capital(at)
    }

    /// "Ana is my sister", "Ana (my sister)": of what kind the name is.
    fn explained(&self, start: usize, end: usize) -> Option<Kind> {
        let is = self.follows(end) && (self.is(end, Words::Is) || self.words[end].text == "'s");
        let my = if is { end + 1 } else { end };
        let gap = self.words.get(my)?.gap.as_str();
        let beside = gap == " (" || gap == ", " && self.opens(start);
        if !self.is(my, Words::My) || !(if is { gap == " " } else { beside }) {
            return None;
        }
        let noun = (my + 1..my + 3).find(|noun| self.kind_of(*noun).is_some())?;
        let joined = (my + 1..=noun).all(|at| self.follows(at));
        let closed = !self.follows(noun + 1) || is && self.is(noun + 1, Words::And);
        let (kind, several) = self.kind_of(noun)?;
        (joined && closed && !several).then_some(kind)
    }

    fn kind_of(&self, noun: usize) -> Option<(Kind, bool)> {
        [
            (Words::Person, Kind::Person, false),
            (Words::People, Kind::Person, true),
            (Words::Pet, Kind::Pet, false),
            (Words::Pets, Kind::Pet, true),
        ]
        .into_iter()
        .find_map(|(words, kind, several)| self.is(noun, words).then_some((kind, several)))
    }

    /// Whether a name stands in one list with the name that ends at `end`.
    fn is_listed(&self, end: usize, start: usize) -> bool {
        let comma = |at: usize| self.words[at].gap == ", ";
        match start - end {
            0 => comma(start),
            1 => {
                self.is(end, Words::And) && (self.follows(end) || comma(end)) && self.follows(start)
            }
            _ => false,
        }
    }
}
