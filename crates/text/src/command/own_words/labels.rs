//! The kind of the labels of labelled lines: days, people of the user's family, or anything else. A list by days or by
//! family is the user's own; other labels may be the speakers of a transcript.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    lang::{
        self, Language,
        keys::{NameWords, Person},
    },
    normal::plain,
};

/// The kind of all labels of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    /// Weekdays, months or dates.
    Days,
    /// The user, members of the family and pets, perhaps beside days.
    Family,
    /// Anything else.
    Other,
}

impl Labels {
    pub(super) fn of<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Self::Days;
        for label in labels {
            match kind(label) {
                Self::Days => {}
                Self::Family => all = Self::Family,
                Self::Other => return Self::Other,
            }
        }
        all
    }
}

fn kind(label: &str) -> Labels {
    let label = plain(label);
    let words: Vec<&str> = label
        .split(|c: char| c.is_whitespace() || "-./,()*".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
    let day = |word: &&str| is_listed(word, &WORDS.days);
    // A number alone is a time before a speaker: "10:31 Bob: …".
    let dated = words.iter().any(day) || (words.len() > 1 && words.iter().all(number));
    if dated && words.iter().all(|word| number(word) || day(word)) {
        return Labels::Days;
    }
    let family = |word: &&str| is_listed(word, &WORDS.family);
    let beside = |word: &&str| number(word) || day(word) || WORDS.beside.contains(*word);
    match words.iter().any(family) && words.iter().all(|word| family(word) || beside(word)) {
        true => Labels::Family,
        false => Labels::Other,
    }
}

/// Words in one form; a `*` at the end of a listed word matches any ending.
struct Words {
    days: Listed,
    family: Listed,
    /// "my", "the".
    beside: HashSet<String>,
}

#[derive(Default)]
struct Listed {
    whole: HashSet<String>,
    beginnings: Vec<String>,
}

impl Listed {
    fn of<'a>(entries: impl Iterator<Item = &'a str>) -> Self {
        let mut listed = Self::default();
        for word in entries.flat_map(|entry| entry.split([' ', '-'])) {
            match word.strip_suffix('*') {
                Some(beginning) => listed.beginnings.push(plain(beginning)),
                // In scripts without spaces one more character may follow: 月曜日, 妈妈.
                None if word.chars().all(|c| c > '\u{2E80}') => listed.beginnings.push(plain(word)),
                None => drop(listed.whole.insert(plain(word))),
            }
        }
        listed
    }
}

/// The longest ending of a listed word, in characters.
const ENDING: usize = 3;

fn is_listed(word: &str, listed: &Listed) -> bool {
    let chars = word.chars().count();
    let begins = |beginning: &String| {
        let own = beginning.chars().count();
        let unspaced = beginning.chars().all(|c| c > '\u{2E80}');
        word.starts_with(beginning.as_str()) && chars <= own + if unspaced { 1 } else { ENDING }
    };
    listed.whole.contains(word) || listed.beginnings.iter().any(begins)
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let cldr = || Language::ALL.iter().map(|language| language.cldr());
    let named = cldr().flat_map(|it| it.weekdays.iter().chain(&it.months)).flatten();
    let days = lang::files().flat_map(|file| file.days.entries()).map(|(_, word)| word);
    let family = lang::files()
        .flat_map(|file| file.people.entries())
        .filter(|(person, _)| is_family(*person))
        .map(|(_, word)| word);
    let own = lang::all(|file| &file.first_person.words);
    let beside = lang::files()
        .flat_map(|file| file.names.entries())
        .filter(|(key, _)| matches!(key, NameWords::My | NameWords::Article))
        .map(|(_, word)| word);
    Words {
        days: Listed::of(named.map(String::as_str).chain(days).chain(WEEKDAYS)),
        family: Listed::of(family.chain(own)),
        beside: beside.map(plain).collect(),
    }
});

/// Chinese names of weekdays that CLDR has not, and their first characters.
const WEEKDAYS: [&str; 3] = ["周", "週", "礼拜"];

/// Whether somebody is of the family. Friends and colleagues write to each other: their labels are a chat's.
fn is_family(person: Person) -> bool {
    !matches!(
        person,
        Person::Friend
            | Person::Colleague
            | Person::Boss
            | Person::Neighbour
            | Person::Flatmate
            | Person::Landlord
            | Person::Coach
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_dates_and_family_are_told_from_other_labels() {
        for (labels, kind) in [
            (vec!["Monday", "Tue 5 May", "2026-10-04"], Labels::Days),
            (vec!["Segunda", "Terça-feira", "Sábado"], Labels::Days),
            (vec!["월요일", "목요일"], Labels::Days),
            (vec!["सोमवार", "गुरुवार"], Labels::Days),
            (vec!["月曜日", "火曜"], Labels::Days),
            (vec!["Mum", "my brother", "Me"], Labels::Family),
            (vec!["아빠", "엄마", "나"], Labels::Family),
            (vec!["10", "11"], Labels::Other),
            (vec!["Monday", "Anna"], Labels::Other),
            (vec!["Agent", "Caller"], Labels::Other),
        ] {
            assert_eq!(Labels::of(labels.iter().copied()), kind, "{labels:?}");
        }
    }
}
