//! The values in a statement: what can be another one while the statement stays.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use crate::{
    cues::Phrases,
    lang::{self, keys::Day},
    normal::{plain, tokens},
    time::statement_dates::undated,
};

static DAYS: LazyLock<Phrases<Day>> =
    LazyLock::new(|| Phrases::of(lang::files().flat_map(|file| file.days.entries())));

#[expect(clippy::expect_used, reason = "constant; every test here compiles it")]
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9०-९]+(?:[.,:][0-9०-९]+)*k?|[一二三四五六七八九十百千万两]+(?:号|點|点|楼|月|日|岁|块|元|线|時|万|円|階)")
        .expect("it compiles")
});

/// Whether a word names a day or a month.
pub(super) fn is_day(word: &str) -> bool {
    !DAYS.find(word, &[word.to_owned()]).anywhere.is_empty()
}

impl Day {
    /// The months, in order.
    pub(crate) const MONTHS: [Self; 12] = [
        Self::January,
        Self::February,
        Self::March,
        Self::April,
        Self::May,
        Self::June,
        Self::July,
        Self::August,
        Self::September,
        Self::October,
        Self::November,
        Self::December,
    ];

    pub(crate) fn is_month(self) -> bool {
        Self::MONTHS.contains(&self)
    }
}

/// The values of a text, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    pub numbers: BTreeSet<String>,
    /// Days of the week, and parts of a day.
    pub days: BTreeSet<Day>,
    pub months: BTreeSet<Day>,
    /// Capitalised words within sentences, lower case.
    pub names: BTreeSet<String>,
}

impl Values {
    pub fn of(text: &str) -> Self {
        let plain = plain(text);
        let found = DAYS.find(&plain, &tokens(&plain)).anywhere;
        let (months, days) = found.into_iter().partition(|day: &Day| day.is_month());
        Self {
            numbers: NUMBER.find_iter(&undated(&plain)).map(|m| number(m.as_str())).collect(),
            days,
            months,
            names: names(text),
        }
    }

    /// The numbers of its months, from 1.
    pub fn months(&self) -> impl Iterator<Item = usize> {
        (1..).zip(Day::MONTHS).filter(|(_, month)| self.months.contains(month)).map(|(at, _)| at)
    }

    /// Whether both have values of one kind, and this one has some that the other lacks.
    pub fn differ_from(&self, other: &Self) -> bool {
        differ(&self.numbers, &other.numbers)
            || differ(&self.days, &other.days)
            || differ(&self.months, &other.months)
            || differ(&self.names, &other.names)
    }

    /// Whether both have numbers, and this one has some that the other lacks.
    pub fn numbers_differ_from(&self, other: &Self) -> bool {
        differ(&self.numbers, &other.numbers)
    }

    /// Whether their days and months differ.
    pub fn days_differ_from(&self, other: &Self) -> bool {
        differ(&self.days, &other.days) || differ(&self.months, &other.months)
    }

    /// Whether their names differ.
    pub fn names_differ_from(&self, other: &Self) -> bool {
        differ(&self.names, &other.names)
    }

    /// Whether each has values of one kind that the other lacks.
    pub fn clash_with(&self, other: &Self) -> bool {
        clash(&self.numbers, &other.numbers)
            || clash(&self.days, &other.days)
            || clash(&self.months, &other.months)
            || clash(&self.names, &other.names)
    }

    /// Whether both name one value.
    pub fn shares_with(&self, other: &Self) -> bool {
        self.numbers.intersection(&other.numbers).next().is_some()
            || self.days.intersection(&other.days).next().is_some()
            || self.months.intersection(&other.months).next().is_some()
            || self.names.intersection(&other.names).next().is_some()
    }

    /// Whether the other has them all.
    pub fn are_all_in(&self, other: &Self) -> bool {
        self.numbers.is_subset(&other.numbers)
            && self.days.is_subset(&other.days)
            && self.months.is_subset(&other.months)
            && self.names.is_subset(&other.names)
    }

    /// Whether all of the other's are here, and more.
    pub fn holds_more_than(&self, other: &Self) -> bool {
        other.are_all_in(self) && self != other
    }

    /// Whether there are none.
    pub fn are_none(&self) -> bool {
        self.numbers.is_empty()
            && self.days.is_empty()
            && self.months.is_empty()
            && self.names.is_empty()
    }
}

fn differ<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> bool {
    !a.is_empty() && !b.is_empty() && a.difference(b).next().is_some()
}

fn clash<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> bool {
    a.difference(b).next().is_some() && b.difference(a).next().is_some()
}

/// One form of a number: 10,000 and 10.000 and 10k are the same.
fn number(written: &str) -> String {
    let digits: String = written.chars().map(western).collect();
    let (digits, thousands) = match digits.strip_suffix('k') {
        Some(rest) => (rest.to_owned(), true),
        None => (digits, false),
    };
    let grouped = digits.split([',', '.']).skip(1).all(|part| part.len() == 3);
    let mut plain = if grouped { digits.replace([',', '.'], "") } else { digits.replace(',', ".") };
    if thousands && !plain.contains('.') {
        plain.push_str("000");
    }
    plain
}

fn western(c: char) -> char {
    match u32::from(c) {
        at @ 0x966..=0x96f => char::from_digit(at - 0x966, 10).unwrap_or(c),
        _ => c,
    }
}

/// Capitalised words that do not begin a sentence.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.trim_end_matches("'s").trim_end_matches("’s");
        let mut letters = bare.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        if capital && !begins && !is_first_person(bare) && !is_day(&bare.to_lowercase()) {
            names.insert(bare.to_lowercase());
        }
        begins = word.ends_with(['.', '!', '?', ':', '"', '”', '…']);
    }
    names
}

fn is_first_person(word: &str) -> bool {
    word == "I" || word.starts_with("I'") || word.starts_with("I’")
}
