//! Adds the date to each relative date of a statement, because "next Friday" means nothing a year later. Relative dates count
//! from the day on which it was said.

use std::sync::LazyLock;

use jiff::{
    ToSpan,
    civil::{Date, Weekday},
};
use regex::Regex;

use crate::time::{
    moment::{Moment, Unit, Which, in_week},
    named_days::named,
    phrases::moments,
};

/// A day of a month is the nearest one with this number, unless it is further away than this many days: "on the 3rd" may
/// then be of one month or another.
const NEAR: i32 = 10;

/// The text with every relative date that is sure followed by what it meant.
pub fn dated(text: &str, today: Date) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (span, moment) in moments(text) {
        if is_within_more(moment, text, span.end) {
            continue;
        }
        let Some(resolved) = resolve(moment, today) else { continue };
        out.push_str(&text[done..span.end]);
        out.push_str(&format!(" ({resolved})"));
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}

/// The text without the dates that [`dated`] added.
pub fn undated(text: &str) -> String {
    static ADDED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r" \([0-9]{4}(-[0-9]{2}){0,2}( – [0-9-]+)?\)").ok());
    match ADDED.as_ref() {
        Some(added) => added.replace_all(text, "").into_owned(),
        None => text.to_owned(),
    }
}

/// Whether what looks like a day of the month is part of a date ("on the 3rd of May", "am 3.4.") or counts something ("on the
/// 3rd floor"). Counted things are few, so a great number is a day.
fn is_within_more(moment: Moment, text: &str, end: usize) -> bool {
    /// The greatest number of what people often count: floors, tries, children.
    const COUNTED: i8 = 10;
    let Moment::DayOfMonth(day) = moment else { return false };
    let rest = &text[end..];
    let continues = rest.trim_start().starts_with(char::is_alphanumeric);
    named(text).iter().any(|date| date.day == Some(day))
        || rest.starts_with(|c: char| c.is_ascii_digit())
        || (day <= COUNTED && continues)
}

/// The date of a relative phrase, as precisely as it was said; `None` where nothing better than its
/// words is known.
fn resolve(moment: Moment, today: Date) -> Option<String> {
    let day = |date: Date| date.strftime("%F").to_string();
    let days = |from: Date, until: Date| format!("{} – {}", day(from), day(until));
    let month = |date: Date| date.strftime("%Y-%m").to_string();
    let year = |date: Date| date.strftime("%Y").to_string();
    let after = |days: i32| today.checked_add(days.days()).ok();
    let in_months = |months: i32| today.checked_add(months.months()).ok();
    let in_years = |years: i32| today.checked_add(years.years()).ok();
    Some(match moment {
        Moment::Day(ahead) => day(after(ahead)?),
        Moment::Week(0) | Moment::Month(0) | Moment::Year(0) => return None,
        Moment::Week(weeks) => {
            days(in_week(Weekday::Monday, weeks, today)?, in_week(Weekday::Sunday, weeks, today)?)
        }
        Moment::Weekend(weeks) => {
            days(in_week(Weekday::Saturday, weeks, today)?, in_week(Weekday::Sunday, weeks, today)?)
        }
        Moment::Month(months) => month(in_months(months)?),
        Moment::Year(years) => year(in_years(years)?),
        Moment::Weekday(weekday, which) => day(weekday_of(weekday, which, today)?),
        Moment::Ago(count, Unit::Day) => day(after(-count)?),
        Moment::Ago(count, Unit::Week) => day(after(-7 * count)?),
        Moment::Ago(count, Unit::Month) => month(in_months(-count)?),
        Moment::Ago(count, Unit::Year) => year(in_years(-count)?),
        Moment::DayOfMonth(number) => day(nearest(number, today)?),
        Moment::Season(..) | Moment::Nothing => return None,
    })
}

fn weekday_of(weekday: Weekday, which: Which, today: Date) -> Option<Date> {
    match which {
        Which::Last => today.nth_weekday(-1, weekday).ok(),
        Which::This | Which::Next => today.nth_weekday(1, weekday).ok(),
        Which::InWeek(weeks) => in_week(weekday, weeks, today),
    }
}

/// The nearest day with this number in its month, if it is near.
fn nearest(number: i8, today: Date) -> Option<Date> {
    let first = today.first_of_month();
    let months = [first.checked_sub(1.month()).ok()?, first, first.checked_add(1.month()).ok()?];
    let days = months.iter().filter_map(|it| Date::new(it.year(), it.month(), number).ok());
    let distance = |day: &Date| (*day - today).get_days().abs();
    days.filter(|day| distance(day) <= NEAR).min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_dates_are_resolved_against_the_turn_in_every_language() {
        // A Wednesday.
        let at: Date = "2026-03-11".parse().unwrap();
        for (text, resolved) in [
            ("I fly next Friday at 9", "I fly next Friday (2026-03-13) at 9"),
            ("the day after tomorrow we move", "the day after tomorrow (2026-03-13) we move"),
            ("we met last Monday", "we met last Monday (2026-03-09)"),
            ("exams in two weeks.", "exams in two weeks (2026-03-25)."),
            ("Moved here 3 years ago", "Moved here 3 years ago (2023)"),
            ("wedding next month", "wedding next month (2026-04)"),
            ("off next week", "off next week (2026-03-16 – 2026-03-22)"),
            ("nächsten Dienstag zum Arzt", "nächsten Dienstag (2026-03-17) zum Arzt"),
            ("übermorgen Prüfung", "übermorgen (2026-03-13) Prüfung"),
            ("vor zwei Jahren", "vor zwei Jahren (2024)"),
            ("me caso el viernes que viene", "me caso el viernes que viene (2026-03-13)"),
            ("me mudo el mes que viene", "me mudo el mes que viene (2026-04)"),
            ("on part lundi prochain", "on part lundi prochain (2026-03-16)"),
            ("dans trois jours", "dans trois jours (2026-03-14)"),
            ("a prova é sexta que vem", "a prova é sexta que vem (2026-03-13)"),
            ("ano que vem caso", "ano que vem (2027) caso"),
            ("अगले महीने शादी है", "अगले महीने (2026-04) शादी है"),
            ("agle saal exam hai", "agle saal (2027) exam hai"),
            ("下周五体检", "下周五 (2026-03-20)体检"),
            ("我后天出差", "我后天 (2026-03-13)出差"),
            ("来週の火曜に出張", "来週の火曜 (2026-03-17)に出張"),
            ("来月結婚します", "来月 (2026-04)結婚します"),
            ("nel prossimo mese mi trasferisco", "nel prossimo mese (2026-04) mi trasferisco"),
            ("volgende week vrij", "volgende week (2026-03-16 – 2026-03-22) vrij"),
            ("в следующую среду зачёт", "в следующую среду (2026-03-18) зачёт"),
            ("다음 주 금요일에 시험", "다음 주 금요일에 (2026-03-20) 시험"),
            ("we hike this weekend", "we hike this weekend (2026-03-14 – 2026-03-15)"),
            ("tort moved to the 16th", "tort moved to the 16th (2026-03-16)"),
            ("he moved out on the 4th.", "he moved out on the 4th (2026-03-04)."),
            ("Lieferung jetzt am 17.", "Lieferung jetzt am 17. (2026-03-17)"),
            ("доктор 16-го", "доктор 16-го (2026-03-16)"),
            ("18 ko hai", "18 ko (2026-03-18) hai"),
        ] {
            assert_eq!(dated(text, at), resolved);
        }
    }

    #[test]
    fn what_is_no_date_or_could_be_two_stays_as_it_is() {
        let at: Date = "2026-03-11".parse().unwrap();
        for text in [
            "Guten Morgen!",
            "por la mañana corro",
            "the scan is on Friday",
            "every week",
            "कल मिलते हैं",
            "my tomorrowland ticket",
            "the next one",
            "my flat is on the 3rd floor",
            "due on the 26th, or was it the 20th of April",
            "am 3.4. um neun",
            "das Treffen am 14. Mai",
            "hier steht mein Rad",
        ] {
            assert_eq!(dated(text, at), text);
        }
    }
}
