//! A statement taken apart for comparison: what it is about, whose matter it is, the values in it,
//! and the words that tell of change.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::LazyLock,
};

use super::{
    slots,
    values::{self, Values},
};
use crate::{
    capture::extract::local::{
        cues::Cues,
        lists::sections,
        text::{is_cjk, plain, tokens},
    },
    store::lexical::{content_words, meaning_set},
};

const WORDS: &str = include_str!("words.txt");

static MARKS: LazyLock<Cues> = LazyLock::new(|| Cues::of(WORDS));
static PEOPLE: LazyLock<Cues> = LazyLock::new(|| Cues::of(include_str!("people.txt")));
/// The sections of words.txt whose words tell nothing of what a sentence is about.
const NO_TOPICS: [&str; 7] = ["generic", "turned", "now", "more", "correct", "not", "within"];

/// Words that say little of what a sentence is about.
static GENERIC: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lists = sections(WORDS).into_iter().filter(|(name, _)| NO_TOPICS.contains(name));
    let lines = lists.flat_map(|(_, lines)| lines);
    lines.flat_map(|line| meaning_set(&line.replace(['*', '|'], " "))).collect()
});

/// Words for one thing, by stem: the first of a line stands for all.
static ALIKE: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let lists = sections(WORDS).into_iter().filter(|(name, _)| *name == "alike");
    let stem = |word: &str| meaning_set(word).into_iter().next();
    let mut alike = HashMap::new();
    for line in lists.flat_map(|(_, lines)| lines) {
        let stems: Vec<String> = line.split_whitespace().filter_map(stem).collect();
        let Some(first) = stems.first() else { continue };
        alike.extend(stems.iter().map(|word| (word.clone(), first.clone())));
    }
    alike
});

/// How far from its beginning a sentence names whose matter it tells.
const SUBJECT_WORDS: usize = 4;

/// English function words in a text whose cosines can be trusted.
const FEWEST_ENGLISH: usize = 1;

/// A statement, taken apart.
#[derive(Clone, Debug)]
pub(in crate::capture::reconcile) struct Saying {
    /// Lower case, digits kept.
    pub(super) plain: String,
    /// Its words, lower case, digits kept.
    pub(super) words: Vec<String>,
    /// Stems of the words that tell what it is about, without its values.
    pub(super) topic: BTreeSet<String>,
    /// The words written with a capital, lower case.
    capitals: BTreeSet<String>,
    /// Numbers, days, names.
    pub(in crate::capture::reconcile) values: Values,
    /// The cues of words.txt in it.
    pub(super) marks: BTreeSet<&'static str>,
    /// The attributes of slots.txt that it tells.
    pub(in crate::capture::reconcile) slots: BTreeSet<&'static str>,
    /// Whose matter it is, where that is somebody of people.txt.
    pub(super) whose: BTreeSet<&'static str>,
    /// Everybody of people.txt in it.
    pub(super) people: BTreeSet<&'static str>,
    /// The name of that person, where it stands behind: "my son Tom".
    pub(super) namesake: Option<String>,
    /// The name that it begins with, where it tells of a third person or thing.
    pub(super) named: Option<String>,
    /// The user is who it begins with.
    pub(super) by_the_user: bool,
    /// It begins with "he", "she" or "they": somebody whom it does not name.
    pub(super) by_another: bool,
    /// The embedder knows its language.
    pub(super) trusted: bool,
}

impl Saying {
    pub(in crate::capture::reconcile) fn of(text: &str) -> Self {
        let plain = plain(text);
        let tokens = tokens(&plain);
        let spoken: Vec<String> =
            tokens.iter().filter(|t| t.chars().any(char::is_alphanumeric)).cloned().collect();
        let marks = MARKS.find(&plain, &spoken).anywhere;
        let values = Values::of(text);
        let beginning = beginning(&plain);
        let first = &spoken[..spoken.len().min(SUBJECT_WORDS)];
        let mut whose = PEOPLE.find(beginning, first).anywhere;
        if begins_with_the_user(first) || tells_both(&spoken) {
            whose.clear();
        }
        let words = words(&plain);
        if whose.iter().all(|who| ROLES.contains(who)) && is_a_role(&spoken) {
            whose.clear();
        }
        let trusted = is_english(&plain, &spoken);
        let by_the_user = begins_with_the_user(first);
        let mut slots = slots::find(&plain, &spoken);
        // "My car is 12 years old."
        if trusted && !by_the_user && whose.is_empty() && !plain.contains("my age") {
            slots.remove("age");
        }
        Self {
            topic: topic(text),
            named: named(text),
            capitals: capitals(text),
            namesake: namesake(text, &whose),
            slots,
            people: PEOPLE.find(&plain, &spoken).anywhere,
            by_the_user,
            by_another: is_by_another(&spoken),
            trusted,
            words,
            plain,
            values,
            marks,
            whose,
        }
    }

    pub(in crate::capture::reconcile) fn says(&self, mark: &str) -> bool {
        self.marks.contains(mark)
    }

    /// Whether it says that something is not so, or is not liked.
    pub(super) fn is_negative(&self) -> bool {
        self.says("not") || self.says("dislike")
    }

    /// Whether both consist of the same words: neither case nor marks nor spacing matter.
    pub(in crate::capture::reconcile) fn has_the_words_of(&self, other: &Self) -> bool {
        self.words == other.words
    }

    /// Whether its topic has words, or it has values, that the other lacks.
    pub(super) fn tells_more_than(&self, other: &Self) -> bool {
        self.shared(other) < self.topic.len() || !self.values.are_all_in(&other.values)
    }

    /// How many words of its topic that are no names the other has too.
    pub(super) fn shared_things(&self, other: &Self) -> usize {
        // What both write with a capital, also where a sentence begins.
        let names = |word: &str| {
            let written = |saying: &Self| saying.capitals.iter().any(|name| name.starts_with(word));
            written(self) && written(other)
        };
        let has = |word: &&String| other.topic.iter().any(|other| are_kin(word, other));
        self.topic.iter().filter(has).filter(|word| !names(word)).count()
    }

    /// How many words of its topic the other has too, in one form or another.
    pub(super) fn shared(&self, other: &Self) -> usize {
        let has = |word: &&String| other.topic.iter().any(|other| are_kin(word, other));
        self.topic.iter().filter(has).count()
    }
}

/// Whether two stems are forms of one word: supervisor and supervises, Rad and Fahrrad.
fn are_kin(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if !one.is_ascii() || !other.is_ascii() {
        return false;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let same = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
    let joined = short.len() >= 3 && long.len() >= short.len() + 4 && long.ends_with(short);
    joined || (same >= 5 && same + 1 >= short.len() && long.len() - same <= 3)
}

/// Whom one has one of: "my boss is Ada" tells of the user, who is asked for it.
const ROLES: [&str; 3] = ["boss", "landlord", "coach"];

/// The user, as the one who does what a sentence tells.
const USER: &[&str] =
    &["i", "im", "ive", "we", "weve", "were", "ich", "wir", "yo", "je", "jai", "nous", "eu", "nós"];

/// Somebody else, as the one who does what a sentence tells. "Sie", "vous" and the like may mean
/// others besides, and do not count.
const OTHERS: &[&str] = &[
    "he", "hes", "she", "shes", "they", "theyre", "theyve", "er", "él", "ella", "ellos", "ellas",
    "il", "elle", "ils", "elles", "ele", "ela", "eles", "elas",
];

/// "They let me swap" tells of the user, too.
fn is_by_another(spoken: &[String]) -> bool {
    const TO_THE_USER: [&str; 4] = ["me", "us", "my", "our"];
    spoken.first().is_some_and(|word| OTHERS.contains(&word.as_str()))
        && !spoken.iter().any(|word| TO_THE_USER.contains(&word.as_str()))
}

/// "My boss is Ada" and not "my boss's number is …".
fn is_a_role(spoken: &[String]) -> bool {
    spoken.windows(2).any(|pair| {
        let role = PEOPLE.find(&pair[0], &pair[..1]).anywhere;
        pair[1] == "is" && !role.is_empty()
    })
}

fn begins_with_the_user(first: &[String]) -> bool {
    first.first().is_some_and(|word| USER.contains(&word.as_str()))
}

/// "My wife and I": it is the user's matter too.
fn tells_both(spoken: &[String]) -> bool {
    let first = &spoken[..spoken.len().min(SUBJECT_WORDS + 2)];
    first.windows(2).any(|pair| {
        matches!(
            (pair[0].as_str(), pair[1].as_str()),
            ("and", "i") | ("und", "ich") | ("y", "yo") | ("et", "moi") | ("e", "eu")
        )
    })
}

/// The first characters, for scripts that do not part words.
fn beginning(plain: &str) -> &str {
    let end = plain.char_indices().nth(SUBJECT_WORDS + 1).map_or(plain.len(), |(at, _)| at);
    &plain[..end]
}

fn topic(text: &str) -> BTreeSet<String> {
    let meant = meaning_set(&content_words(text).join(" "));
    meant
        .into_iter()
        .filter(|word| !GENERIC.contains(word))
        .filter(|word| !word.chars().any(char::is_numeric) && !values::is_day(word))
        .map(|word| ALIKE.get(&word).cloned().unwrap_or(word))
        .collect()
}

fn words(plain: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in plain.chars().filter(|c| !matches!(c, '\'' | ',')) {
        if is_cjk(c) || !(c.is_alphanumeric() || matches!(c, '\u{900}'..='\u{963}')) {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if is_cjk(c) {
                words.push(c.to_string());
            }
        } else {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn capitals(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_lowercase).collect()
}

/// Verbs behind a name that a sentence begins with.
const VERBS: &[&str] = &[
    "is",
    "was",
    "has",
    "lives",
    "lived",
    "works",
    "worked",
    "moved",
    "likes",
    "loves",
    "hates",
    "prefers",
    "wants",
    "got",
    "started",
    "now",
    "will",
    "eats",
    "plays",
    "drinks",
    "drives",
    "left",
    "turned",
    "goes",
    "cant",
    "doesnt",
    "ist",
    "hat",
    "wohnt",
    "lebt",
    "arbeitet",
    "zog",
    "mag",
    "heißt",
    "vive",
    "trabaja",
    "tiene",
    "es",
    "está",
    "se",
    "ahora",
    "habite",
    "travaille",
    "aime",
    "vit",
    "mora",
    "trabalha",
    "tem",
    "é",
    "gosta",
    "agora",
];

/// Beginnings that are no names.
const NO_NAMES: &[&str] = &[
    "i", "we", "my", "our", "it", "its", "this", "that", "there", "he", "she", "they", "the", "a",
    "what", "who", "everyone", "nobody", "today", "now", "ich", "wir", "es", "das", "mein",
    "meine", "er", "sie", "der", "die", "yo", "mi", "el", "la", "él", "ella", "esto", "je", "on",
    "il", "elle", "nous", "mon", "ma", "le", "ce", "cela", "ça", "eu", "meu", "minha", "ele",
    "ela", "o", "isso", "news", "work", "home", "doctor", "user",
];

/// The capitalised word behind the one that tells whose matter it is.
fn namesake(text: &str, whose: &BTreeSet<&str>) -> Option<String> {
    if whose.is_empty() {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().take(SUBJECT_WORDS + 1).collect();
    let pair = words.windows(2).find(|pair| {
        let plain = plain(pair[0]);
        !PEOPLE.find(&plain, &tokens(&plain)).anywhere.is_empty()
            && pair[1].starts_with(char::is_uppercase)
    })?;
    Some(pair[1].trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

fn named(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let first = words.next()?.trim_matches(|c: char| !c.is_alphanumeric());
    let second = words.next()?.to_lowercase().replace(['’', '\''], "");
    let second = second.trim_matches(|c: char| !c.is_alphanumeric());
    let name = first.to_lowercase();
    let (name, rest) = name.split_once(['\'', '’']).unwrap_or((&name, ""));
    let possessive = rest == "s";
    let is_name = first.chars().next().is_some_and(char::is_uppercase)
        && !NO_NAMES.contains(&name)
        && (VERBS.contains(&second) || possessive);
    is_name.then(|| name.to_owned())
}

fn is_english(plain: &str, spoken: &[String]) -> bool {
    let letters = plain.chars().filter(|c| c.is_alphabetic());
    let foreign = letters.clone().filter(|c| !c.is_ascii()).count();
    foreign * 20 <= letters.count()
        && spoken.iter().filter(|word| ENGLISH.contains(word.as_str())).count() >= FEWEST_ENGLISH
}

static ENGLISH: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = sections(WORDS).into_iter().filter(|(name, _)| *name == "english");
    lists.flat_map(|(_, lines)| lines).flat_map(|line| line.split('|')).map(str::trim).collect()
});
