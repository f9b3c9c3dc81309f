//! The subject of a request to forget, and whether a text says it in the same words. Strict: whoever is
//! wrong here destroys what nobody wanted to lose.

use std::{collections::HashSet, sync::LazyLock};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    lang::{self, file::Forgetting},
    normal::is_cjk,
};

/// Something to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A statement: whatever says it.
    Fact(String),
    /// A topic: whatever speaks of it.
    Topic(String),
}

/// A list of words.
type Words = LazyLock<HashSet<&'static str>>;

/// A list of characters.
type Characters = LazyLock<HashSet<char>>;

/// Words of grammar, and words that stand for any verb of being or having.
static GRAMMAR: Words = LazyLock::new(|| words(|lists| &lists.grammar));

/// Characters of Chinese and Japanese that are grammar.
static GRAMMAR_CHARACTERS: Characters =
    LazyLock::new(|| characters(|lists| &lists.grammar_characters));

/// Words that deny.
static DENIALS: Words = LazyLock::new(|| words(|lists| &lists.denials));

/// Characters that deny.
static DENIAL_CHARACTERS: Characters =
    LazyLock::new(|| characters(|lists| &lists.denial_characters));

/// Whose something is: the speaker's, as they say it or as it is said of or to them.
static OWNERS: Words = LazyLock::new(|| words(|lists| &lists.owners));

/// Words by which a sentence speaks of the speaker.
static SPEAKER: Words = LazyLock::new(|| words(|lists| &lists.speaker));

/// Words that may stand between a speaker and what is told of them.
static SMALL: Words = LazyLock::new(|| words(|lists| &lists.small));

/// People whose facts are not the speaker's.
static OTHERS: Words = LazyLock::new(|| words(|lists| &lists.others));

/// Words that join a name to what bears it; of a fact they say nothing.
static NAMING: Words = LazyLock::new(|| words(|lists| &lists.naming));

/// How many words may stand between an owner and what is theirs.
const BETWEEN: usize = 1;

impl Subject {
    /// A statement.
    #[must_use]
    pub fn fact(words: &str) -> Self {
        Self::Fact(named(words))
    }

    /// A topic.
    #[must_use]
    pub fn topic(words: &str) -> Self {
        Self::Topic(named(words))
    }

    /// Its words.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Fact(words) | Self::Topic(words) => words,
        }
    }

    /// The sentences of a text that say it.
    #[must_use]
    pub fn said_in<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut wanted = terms(self.words());
        if matches!(self, Self::Fact(_)) {
            wanted.retain(|term| !is_in(&NAMING, term));
        }
        if wanted.is_empty() {
            return Vec::new();
        }
        text.split(['\n', '。', '！', '？', '।', ';', '；'])
            .flat_map(|line| {
                line.split_inclusive(". ").flat_map(|part| part.split_inclusive(['!', '?']))
            })
            .map(str::trim)
            .filter(|sentence| self.is_said(&wanted, sentence))
            .collect()
    }

    /// Whether it is an English statement that begins with the speaker. Its words alone then tell
    /// almost for certain who says it.
    #[must_use]
    pub fn is_of_speaker(&self) -> bool {
        plain_words(self.words()).first().is_some_and(|word| is_in(&SPEAKER, word))
    }

    fn is_said(&self, wanted: &[String], sentence: &str) -> bool {
        let has = terms(sentence);
        if !wanted.iter().all(|term| has.iter().any(|other| same(term, other))) {
            return false;
        }
        let (own, theirs) = (plain_words(self.words()), plain_words(sentence));
        match self {
            Self::Fact(fact) => {
                let denied = |words: &[String], text: &str| {
                    words.iter().any(|word| is_in(&DENIALS, word))
                        || text.chars().any(|c| DENIAL_CHARACTERS.contains(&c))
                };
                let others = theirs.iter().map(|word| word.trim_end_matches("'s"));
                let mut others = others.filter(|word| is_in(&OTHERS, word));
                denied(&own, fact) == denied(&theirs, sentence)
                    && (!self.is_of_speaker() || told_of_speaker(&theirs, &wanted[0]))
                    && others.all(|other| own.iter().any(|word| word == other))
            }
            Self::Topic(_) if own.first().is_some_and(|word| is_in(&OWNERS, word)) => {
                owns(&theirs, &wanted[0])
            }
            Self::Topic(_) => true,
        }
    }
}

/// Whether words tell something of the speaker: nothing but small words stands between, as in "I have
/// a dog" and not in "I met a man with a dog".
fn told_of_speaker(words: &[String], term: &str) -> bool {
    let told = |at: usize| {
        let before = words[..at].iter().rev().find(|word| !is_in(&SMALL, word));
        before.is_some_and(|word| is_in(&SPEAKER, word))
    };
    let mut places = (0..words.len()).filter(|&at| same(&stem(&words[at]), term));
    places.any(told) || owns(words, term)
}

/// Whether words speak of something as the speaker's own: "my old address", not "my dog's address".
fn owns(words: &[String], term: &str) -> bool {
    (0..words.len()).filter(|&at| is_in(&OWNERS, &words[at])).any(|at| {
        let rest = &words[at + 1..(at + 2 + BETWEEN).min(words.len())];
        let place = rest.iter().position(|word| same(&stem(word), term));
        place.is_some_and(|place| rest[..place].iter().all(|word| !word.ends_with("'s")))
    })
}

fn named(words: &str) -> String {
    let mut words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(rest) = lang::all(|file| &file.forgetting.farewells).find_map(|farewell| {
        let at = words.len().checked_sub(farewell.len())?;
        let tail = words.get(at..)?;
        (tail.eq_ignore_ascii_case(farewell) && words[..at].ends_with(' ')).then_some(at)
    }) {
        words.truncate(rest);
        words.truncate(words.trim_end_matches([' ', ',']).len());
    }
    words
}

/// The words that carry meaning; pairs of characters in Chinese and Japanese.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut run: Vec<char> = Vec::new();
    let flush = |run: &mut Vec<char>, terms: &mut Vec<String>| {
        match run.len() {
            0 => {}
            1 => terms.push(run[0].to_string()),
            _ => terms.extend(run.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
        run.clear();
    };
    let text: String = text.nfkc().collect();
    for word in text.replace('’', "'").unicode_words() {
        if word.chars().all(is_cjk) {
            for c in word.chars() {
                if GRAMMAR_CHARACTERS.contains(&c) {
                    flush(&mut run, &mut terms)
                } else {
                    run.push(c)
                }
            }
            continue;
        }
        flush(&mut run, &mut terms);
        let lower = word.to_lowercase();
        let bare = lower.split('\'').next_back().filter(|last| last.len() > 2).unwrap_or(&lower);
        let bare = bare.trim_end_matches("'s").trim_end_matches('\'');
        if !lower.split('\'').all(|part| is_in(&GRAMMAR, part))
            && !is_in(&GRAMMAR, &lower.replace('\'', ""))
        {
            terms.push(stem(bare));
        }
    }
    flush(&mut run, &mut terms);
    terms.dedup();
    terms
}

/// A word without the ending of a plural or a third person.
fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let ended = word.strip_suffix("es").filter(|w| w.ends_with(['s', 'x', 'z', 'h']));
    let ended =
        ended.or_else(|| word.strip_suffix('s').filter(|w| w.len() > 2 && !w.ends_with('s')));
    ended.unwrap_or(word).to_owned()
}

/// Whether two terms are forms of one word.
fn same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (short, long) =
        (a.chars().count().min(b.chars().count()), a.chars().count().max(b.chars().count()));
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    short >= 6 && letters(a) && letters(b) && shared * 4 >= long * 3
}

fn plain_words(text: &str) -> Vec<String> {
    let text: String = text.nfkc().collect();
    text.replace('’', "'").unicode_words().map(str::to_lowercase).collect()
}

fn is_in(list: &Words, word: &str) -> bool {
    list.contains(word)
}

fn words(list: fn(&'static Forgetting) -> &'static [String]) -> HashSet<&'static str> {
    lang::all(|file| list(&file.forgetting)).collect()
}

fn characters(list: fn(&'static Forgetting) -> &'static [String]) -> HashSet<char> {
    lang::all(|file| list(&file.forgetting)).flat_map(str::chars).collect()
}
