//! Days and months that a text names: "8 May 2023", "14. dez", "5月8日", "2023-05-08".

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    lang::{self, Language, keys::Day},
    time::{fold::fold, names::Names},
};

/// Most dates of a text that are looked at.
const MOST: usize = 16;

/// A day or a month, of a year or of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub year: Option<i16>,
    pub month: i8,
    pub day: Option<i8>,
}

/// These are other words, too, so they count only with a capital, or beside a number.
const AMBIGUOUS: [&str; 5] = ["may", "march", "mars", "marco", "mai"];

/// A word between a day and its month: "the 8th of May", "8 de mayo".
const BETWEEN: [&str; 3] = ["of", "de", "the"];

/// Letters of a month that is cut short: "nov", "sept".
const SHORT: std::ops::RangeInclusive<usize> = 3..=4;

#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:(\d{4})[年년] ?)?(\d{1,2})[月월](?: ?(\d{1,2})[日号일]?)?|\b(\d{4})-(\d{2})-(\d{2})\b|\b(\d{1,2})\. ?(\d{1,2})\.(?: ?(\d{4})\b)?",
    )
    .expect("a constant pattern compiles")
});

/// The dates that a text names: first those in digits, then those with a month's name.
pub(crate) fn named(text: &str) -> Vec<Named> {
    let in_digits = DIGITS.captures_iter(text).filter_map(|found| {
        let number = |group| found.get(group)?.as_str().parse::<i16>().ok();
        match (number(2), number(5)) {
            (Some(month), _) => Named::of(number(1), month, number(3)),
            (None, Some(month)) => Named::of(number(4), month, number(6)),
            (None, None) => Named::of(number(9), number(8)?, number(7)),
        }
    });
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !BETWEEN.contains(word))
        .collect();
    let language = Language::likely(text);
    let in_words = (0..words.len()).filter_map(|at| in_words(&words, at, language));
    in_digits.chain(in_words).take(MOST).collect()
}

/// The date around a month's name: "8 May 2023", "May 8th, 2023", "May".
fn in_words(words: &[&str], at: usize, language: Option<Language>) -> Option<Named> {
    let word = *words.get(at)?;
    let number = |at: Option<usize>| {
        let word = words.get(at?)?.to_lowercase();
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<i16>().ok()
    };
    let year = |at| number(Some(at)).filter(|number| *number > 999);
    let day = |at| number(at).filter(|number| (1..=31).contains(number));
    let (before, after) = (day(at.checked_sub(1)), day(Some(at + 1)));
    let month = match month(word) {
        Some(month) => month,
        // A short form is another word where no day stands beside it.
        None => before.or(after).and_then(|_| short_month(word, language))?,
    };
    let year = year(at + 1).or_else(|| after.and_then(|_| year(at + 2)));
    let capital = word.starts_with(char::is_uppercase) && at > 0;
    let sure = capital || before.or(after).or(year).is_some();
    if !sure && AMBIGUOUS.contains(&&*word.to_lowercase()) {
        return None;
    }
    Named::of(year, month, before.or(after))
}

/// The names of the months in all languages.
static MONTHS: LazyLock<Names<i16>> = LazyLock::new(|| {
    let cldr = Language::ALL.iter().flat_map(|language| (1..).zip(&language.cldr().months));
    let cldr = cldr.flat_map(|(month, names)| names.iter().map(move |name| (name.as_str(), month)));
    let own = lang::files().flat_map(|file| file.days.entries());
    let own = own.filter_map(|(day, name)| Some((name, number_of(day)?)));
    Names::of(cldr.chain(own))
});

fn number_of(day: Day) -> Option<i16> {
    let place = Day::MONTHS.iter().position(|month| *month == day)?;
    i16::try_from(place + 1).ok()
}

fn month(word: &str) -> Option<i16> {
    MONTHS.get(&fold(word))
}

/// The month that is cut short, of a text's own language or of English: "out" is October in Portuguese alone.
fn short_month(word: &str, language: Option<Language>) -> Option<i16> {
    let bare = fold(word);
    if !SHORT.contains(&bare.chars().count()) {
        return None;
    }
    let known = [language, Some(Language::En)].into_iter().flatten();
    let mut names = known.flat_map(|language| language.file().days.entries());
    names.find_map(|(day, name)| number_of(day).filter(|_| fold(name).starts_with(&bare)))
}

impl Named {
    fn of(year: Option<i16>, month: i16, day: Option<i16>) -> Option<Self> {
        let month = i8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        let day = match day {
            Some(day) => Some(i8::try_from(day).ok().filter(|day| (1..=31).contains(day))?),
            None => None,
        };
        Some(Self { year, month, day })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &[(Option<i16>, i8, Option<i8>)]) {
        let found: Vec<_> = named(query).iter().map(|it| (it.year, it.month, it.day)).collect();
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn days_and_months_are_read_as_people_write_them() {
        let day = [(Some(2022), 5, Some(1))];
        for query in [
            "What did she watch on 1 May, 2022?",
            "What happened on May 1st, 2022?",
            "the 1st of may 2022",
            "¿Qué hice el 1 de mayo 2022?",
            "2022年5月1日看了什么",
            "my notes of 2022-05-01",
        ] {
            check(query, &day);
        }
        check("Was war im März?", &[(None, 3, None)]);
        check("en août 2023", &[(Some(2023), 8, None)]);
        check(
            "between August 11 and August 15 2023",
            &[(None, 8, Some(11)), (Some(2023), 8, Some(15))],
        );
    }

    #[test]
    fn words_that_are_no_months_name_no_date() {
        for query in ["May I march to it?", "what may it be", "13月", "2022-15-01", "40 things"] {
            check(query, &[]);
        }
    }

    #[test]
    fn a_month_may_be_cut_short_beside_a_day() {
        check("off on 14 dec", &[(None, 12, Some(14))]);
        check("8 out of 10 in dec and nov", &[]);
    }
}
