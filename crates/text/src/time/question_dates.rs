//! Times that a query names: days and months ("on 1 May 2022", "in March", "5月8日"), and what it tells from the day
//! of asking. What was said then, or just after, is more likely meant; that is a hint and never a filter.

use std::sync::LazyLock;

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use regex::Regex;

use crate::time::{
    number_words::fold,
    question_periods::{self, Period},
};

/// Most dates of a query that count, of those named and of those told from the day of asking.
const MOST: usize = 8;
/// For so many days after it, people still tell of a day.
const TOLD_WITHIN: i32 = 7;

/// The times that a query names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    named: Vec<Named>,
    periods: Vec<Period>,
}

impl Times {
    /// Those of a query that was asked at some time.
    pub fn of(query: &str, asked: Timestamp) -> Self {
        let asked = asked.to_zoned(TimeZone::UTC).date();
        Self {
            named: named(query),
            periods: question_periods::named(query, asked).take(MOST).collect(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.periods.is_empty()
    }

    /// Whether something was said at one of them, or soon after.
    #[must_use]
    pub fn meet(&self, said: Timestamp) -> bool {
        let day = said.to_zoned(TimeZone::UTC).date();
        self.named.iter().any(|it| it.meets(said))
            || self.periods.iter().any(|it| told_of(*it, day))
    }
}

/// Of a few days people still tell soon after.
fn told_of(period: Period, said: Date) -> bool {
    let short = period.from.saturating_add(TOLD_WITHIN.days()) >= period.until;
    let later = if short { TOLD_WITHIN } else { 0 };
    (period.from..=period.until.saturating_add(later.days())).contains(&said)
}

/// A day or a month, of a year or of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    year: Option<i16>,
    month: i8,
    day: Option<i8>,
}

/// Names of months in English, German, French, Spanish and Portuguese, without accents.
const MONTHS: [&str; 12] = [
    "january januar janvier enero janeiro",
    "february februar fevrier febrero fevereiro",
    "march marz mars marzo marco",
    "april avril abril",
    "may mai mayo maio",
    "june juni juin junio junho",
    "july juli juillet julio julho",
    "august aout agosto",
    "september septembre septiembre setembro",
    "october oktober octobre octubre outubro",
    "november novembre noviembre novembro",
    "december dezember decembre diciembre dezembro",
];

/// These are other words, too, so they count only with a capital, or beside a number.
const AMBIGUOUS: [&str; 5] = ["may", "march", "mars", "marco", "mai"];

/// A word between a day and its month: "the 8th of May", "8 de mayo".
const BETWEEN: [&str; 3] = ["of", "de", "the"];

#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号])?|\b(\d{4})-(\d{2})-(\d{2})\b")
        .expect("a constant pattern compiles")
});

/// The dates that a query names.
fn named(query: &str) -> Vec<Named> {
    let in_digits = DIGITS.captures_iter(query).filter_map(|found| {
        let number = |group| found.get(group)?.as_str().parse::<i16>().ok();
        match number(2) {
            Some(month) => Named::of(number(1), month, number(3)),
            None => Named::of(number(4), number(5)?, number(6)),
        }
    });
    let words: Vec<&str> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !BETWEEN.contains(word))
        .collect();
    let in_words = (0..words.len()).filter_map(|at| in_words(&words, at));
    in_digits.chain(in_words).take(MOST).collect()
}

/// The date around a month's name: "8 May 2023", "May 8th, 2023", "May".
fn in_words(words: &[&str], at: usize) -> Option<Named> {
    let word = *words.get(at)?;
    let month = month(word)?;
    let number = |at: Option<usize>| {
        let word = words.get(at?)?.to_lowercase();
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        digits.parse::<i16>().ok()
    };
    let year = |at| number(Some(at)).filter(|number| *number > 999);
    let day = |at| number(at).filter(|number| (1..=31).contains(number));
    let (before, after) = (day(at.checked_sub(1)), day(Some(at + 1)));
    let year = year(at + 1).or_else(|| after.and_then(|_| year(at + 2)));
    let capital = word.starts_with(char::is_uppercase) && at > 0;
    let sure = capital || before.or(after).or(year).is_some();
    if !sure && AMBIGUOUS.contains(&&*word.to_lowercase()) {
        return None;
    }
    Named::of(year, month, before.or(after))
}

fn month(word: &str) -> Option<i16> {
    let bare = fold(word);
    let place = MONTHS.iter().position(|names| names.split(' ').any(|name| name == bare))?;
    i16::try_from(place + 1).ok()
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

    /// Whether something was said then: in the month, or on the day or soon after.
    fn meets(self, said: Timestamp) -> bool {
        let said = said.to_zoned(TimeZone::UTC).date();
        let Some(day) = self.day else {
            return said.month() == self.month && self.year.is_none_or(|year| year == said.year());
        };
        // Told in January of a day in December.
        let years = self.year.map_or([said.year(), said.year() - 1], |year| [year, year]);
        years.into_iter().any(|year| {
            let Ok(start) = Date::new(year, self.month, day) else { return false };
            let end = start.saturating_add(TOLD_WITHIN.days());
            (start..=end).contains(&said)
        })
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
    fn what_was_said_in_a_period_told_from_today_meets_it() {
        let meets = |query: &str, said: &str| {
            Times::of(query, "2026-04-16T10:00:00Z".parse().unwrap()).meet(said.parse().unwrap())
        };
        assert!(meets("what did I buy yesterday", "2026-04-15T23:00:00Z"));
        assert!(meets("what did I do last week", "2026-04-14T10:00:00Z"), "told soon after");
        assert!(!meets("what did I do last week", "2026-04-05T10:00:00Z"));
        assert!(meets("去年夏天去哪儿了", "2025-07-01T10:00:00Z"));
        assert!(!meets("去年夏天去哪儿了", "2025-09-02T10:00:00Z"));
        assert!(Times::of("what did I buy", Timestamp::UNIX_EPOCH).is_empty());
    }

    #[test]
    fn what_was_said_then_or_soon_after_meets_a_date() {
        let meets = |query: &str, said: &str| named(query)[0].meets(said.parse().unwrap());
        assert!(meets("on 1 May 2022", "2022-05-03T10:00:00Z"));
        assert!(!meets("on 1 May 2022", "2022-04-30T10:00:00Z"));
        assert!(!meets("on 1 May 2022", "2023-05-01T10:00:00Z"));
        assert!(meets("on 30 December", "2023-01-02T10:00:00Z"));
        assert!(
            meets("in May", "2022-05-30T10:00:00Z") && !meets("in May", "2022-06-01T10:00:00Z")
        );
        assert!(!meets("on 30 February", "2022-03-01T10:00:00Z"));
    }
}
