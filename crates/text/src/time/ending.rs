//! The day after which what a statement tells is over: "the exam is on 14 May" tells of nothing to come on 15 May.

use std::sync::LazyLock;

use jiff::{ToSpan, civil::Date};

use crate::{
    cues::Phrases,
    lang::{self, keys::DateWord},
    normal::{plain, tokens},
    time::named_days::{Named, named},
};

/// A day without a year is the next one of its name within so many days, and else more likely one that is over.
const AHEAD: i32 = 183;

static WORDS: LazyLock<Phrases<DateWord>> =
    LazyLock::new(|| Phrases::of(lang::files().flat_map(|file| file.dates.entries())));

/// The last day that a statement of something to come names. `None` where it names none, or a day that is over; where
/// something begins on the only day that it names, and goes on; and where the day comes again.
#[must_use]
pub fn last_day(text: &str, said: Date) -> Option<Date> {
    let days = named(text).into_iter().filter(|named| named.day.is_some());
    let days: Option<Vec<Date>> = days.map(|named| coming(named, said)).collect();
    let days = days?;
    let plain = plain(text);
    let words = WORDS.find(&plain, &tokens(&plain)).anywhere;
    if words.contains(&DateWord::Repeats) || (words.contains(&DateWord::Begins) && days.len() < 2) {
        return None;
    }
    days.into_iter().max()
}

/// The day that is meant, unless it is over.
fn coming(named: Named, said: Date) -> Option<Date> {
    let of = |year| Date::new(year, named.month, named.day?).ok().filter(|day| *day >= said);
    match named.year {
        Some(year) => of(year),
        None => {
            let next = of(said.year()).or_else(|| of(said.year() + 1))?;
            (next <= said.saturating_add(AHEAD.days())).then_some(next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let said = "2026-03-11".parse().unwrap();
        let expected = expected.map(|day| day.parse().unwrap());
        assert_eq!(last_day(text, said), expected, "{text}");
    }

    #[test]
    fn something_to_come_ends_with_its_last_day() {
        for (text, day) in [
            ("my exam is on 14 May", "2026-05-14"),
            ("the scan is next Friday (2026-03-13)", "2026-03-13"),
            ("off to Corsica from 27 june to 11 july", "2026-07-11"),
            ("Abgabe ist am 27. Mai", "2026-05-27"),
            ("Prüfung am 3.4. um neun", "2026-04-03"),
            ("mum visits us, 5 jun 2026", "2026-06-05"),
            ("la entrega es el 26 de abril", "2026-04-26"),
            ("领证改到6月18了", "2026-06-18"),
            ("8月28日の試験を受けます", "2026-08-28"),
            ("수술은 4월 25일이에요", "2026-04-25"),
            ("операция 12 апреля", "2026-04-12"),
        ] {
            check(text, Some(day));
        }
    }

    #[test]
    fn what_is_over_begins_or_comes_again_does_not_end() {
        for text in [
            "we moved here on 2 March",
            "I started at Siemens on 14 December",
            "from 4 may Antek goes to a creche",
            "ab 5. mai mach ich die weiterbildung",
            "Dad's birthday is on 3 May",
            "每年5月3日我们去扫墓",
            "8 out of 10 people like it",
            "the release is in May",
            "I was born on 3 May 1988",
        ] {
            check(text, None);
        }
    }
}
