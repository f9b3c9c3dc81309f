//! A statement taken apart for comparison: what it is about, whose matter it is, the values in it,
//! and the words that tell of change.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::LazyLock,
};

use crate::{
    compare::{
        slots,
        values::{self, Values},
        who::Who,
    },
    cues::Phrases,
    index::{content_words, meaning_set},
    lang::{
        self,
        keys::{Mark, Slot},
    },
    normal::{is_cjk, plain, tokens},
};

static MARKS: LazyLock<Phrases<Mark>> =
    LazyLock::new(|| Phrases::of(lang::files().flat_map(|file| file.change.entries())));

/// The marks whose words tell nothing of what a sentence is about.
const NO_TOPICS: [Mark; 6] =
    [Mark::Turned, Mark::Now, Mark::More, Mark::Correct, Mark::Not, Mark::Within];

/// Words that say little of what a sentence is about.
static GENERIC: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let marks = NO_TOPICS.iter().flat_map(|mark| lang::all(|file| file.change.of(*mark)));
    let entries = lang::all(|file| &file.topic.generic).chain(marks);
    entries.flat_map(|entry| meaning_set(&entry.replace('*', " "))).collect()
});

/// Words for one thing, by stem: the first of a line stands for all.
static ALIKE: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let stem = |word: &str| meaning_set(word).into_iter().next();
    let mut alike = HashMap::new();
    for line in lang::all(|file| &file.topic.alike) {
        let stems: Vec<String> = line.split_whitespace().filter_map(stem).collect();
        let Some(first) = stems.first() else { continue };
        alike.extend(stems.iter().map(|word| (word.clone(), first.clone())));
    }
    alike
});

/// English function words in a text whose cosines can be trusted.
const FEWEST_ENGLISH: usize = 1;

/// A statement, taken apart.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Lower case, digits kept.
    pub plain: String,
    /// Its words, lower case, digits kept.
    pub words: Vec<String>,
    /// Stems of the words that tell what it is about, without its values.
    pub topic: BTreeSet<String>,
    /// The words written with a capital, lower case.
    capitals: BTreeSet<String>,
    /// Numbers, days, names.
    pub values: Values,
    /// The marks of change in its words.
    pub marks: BTreeSet<Mark>,
    /// The attributes that it tells.
    pub slots: BTreeSet<Slot>,
    /// Whose matter it is, and who else is in it.
    pub who: Who,
    /// The embedder knows its language.
    pub trusted: bool,
}

impl Statement {
    /// Reads a statement.
    pub fn of(text: &str) -> Self {
        let plain = plain(text);
        let tokens = tokens(&plain);
        let spoken: Vec<String> =
            tokens.iter().filter(|t| t.chars().any(char::is_alphanumeric)).cloned().collect();
        let marks = MARKS.find(&plain, &spoken).anywhere;
        let values = Values::of(text);
        let who = Who::of(text, &plain, &spoken);
        let words = words(&plain);
        let trusted = is_english(&plain, &spoken);
        let mut slots = slots::find(&plain, &spoken);
        // "My car is 12 years old."
        if trusted && !who.by_the_user && who.whose.is_empty() && !plain.contains("my age") {
            slots.remove(&Slot::Age);
        }
        Self {
            topic: topic(text),
            capitals: capitals(text),
            slots,
            trusted,
            words,
            plain,
            values,
            marks,
            who,
        }
    }

    /// Whether both are about the same person: the user, or somebody whom both name.
    pub fn is_about_the_person_of(&self, other: &Self) -> bool {
        self.who.may_be(&other.who, [&self.plain, &other.plain])
    }

    /// Whether the words of a mark occur.
    pub fn says(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// Whether it is written in other letters than Latin ones.
    pub fn is_in_another_script(&self) -> bool {
        // Where the Latin letters of the languages we claim end.
        self.plain.chars().any(|c| c.is_alphabetic() && c > '\u{24f}')
    }

    /// Whether any word in it tells of a change, be it only that there are news.
    pub fn tells_of_change(&self) -> bool {
        [Mark::Turned, Mark::Now, Mark::Correct, Mark::News].into_iter().any(|mark| self.says(mark))
    }

    /// Whether it says that something is not so, or is not liked.
    pub fn is_negative(&self) -> bool {
        self.says(Mark::Not) || self.says(Mark::Dislike)
    }

    /// Whether both consist of the same words: neither case nor marks nor spacing matter.
    pub fn has_the_words_of(&self, other: &Self) -> bool {
        self.words == other.words
    }

    /// Whether its topic has words, or it has values, that the other lacks.
    pub fn tells_more_than(&self, other: &Self) -> bool {
        self.shared(other) < self.topic.len() || !self.values.are_all_in(&other.values)
    }

    /// How many words of its topic that are no names the other has too.
    pub fn shared_things(&self, other: &Self) -> usize {
        // Words that both write with a capital, also where a sentence begins.
        let names = |word: &str| {
            let written =
                |statement: &Self| statement.capitals.iter().any(|name| name.starts_with(word));
            written(self) && written(other)
        };
        let has = |word: &&String| other.topic.iter().any(|other| are_kin(word, other));
        self.topic.iter().filter(has).filter(|word| !names(word)).count()
    }

    /// How many words of its topic the other has too, in one form or another.
    pub fn shared(&self, other: &Self) -> usize {
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

fn is_english(plain: &str, spoken: &[String]) -> bool {
    let letters = plain.chars().filter(|c| c.is_alphabetic());
    let foreign = letters.clone().filter(|c| !c.is_ascii()).count();
    foreign * 20 <= letters.count()
        && spoken.iter().filter(|word| TRUSTED.contains(word.as_str())).count() >= FEWEST_ENGLISH
}

static TRUSTED: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.topic.trusted).collect());
