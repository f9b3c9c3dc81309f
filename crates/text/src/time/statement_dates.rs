//! Relative dates: "next Friday" means nothing a year later, so the day that it
//! meant stands beside it. Resolved by the turn's day in UTC.

use std::ops::Range;

use jiff::{
    Span, Timestamp, ToSpan,
    civil::{Date, Weekday},
    tz::TimeZone,
};

use crate::time::statement_words::{Meaning, When, matches};

/// The text with every relative date that is sure followed by what it meant.
pub fn dated(text: &str, at: Timestamp) -> String {
    let today = at.to_zoned(TimeZone::UTC).date();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (span, meaning) in without_overlaps(matches(text)) {
        let Some(resolved) = resolve(meaning, today) else { continue };
        out.push_str(&text[done..span.end]);
        out.push_str(&format!(" ({resolved})"));
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Of overlapping matches the longest: "day after tomorrow" and not "tomorrow".
fn without_overlaps(mut found: Vec<(Range<usize>, Meaning)>) -> Vec<(Range<usize>, Meaning)> {
    found.sort_by_key(|(span, _)| (span.start, usize::MAX - span.end));
    let mut kept: Vec<(Range<usize>, Meaning)> = Vec::new();
    for (span, meaning) in found {
        if kept.last().is_none_or(|(last, _)| last.end <= span.start) {
            kept.push((span, meaning));
        }
    }
    kept
}

/// What a relative date meant, as precisely as it was said.
fn resolve(meaning: Meaning, today: Date) -> Option<String> {
    let day = |date: Date| date.strftime("%F").to_string();
    let month = |date: Date| date.strftime("%Y-%m").to_string();
    let year = |date: Date| date.strftime("%Y").to_string();
    let shifted = |span: Span| today.checked_add(span).ok();
    Some(match meaning {
        Meaning::Nothing => return None,
        Meaning::Days(days) => day(shifted(days.days())?),
        Meaning::Weeks(weeks) => day(shifted(weeks.weeks())?),
        Meaning::Months(months) => month(shifted(months.months())?),
        Meaning::Years(years) => year(shifted(years.years())?),
        Meaning::Week(weeks) => {
            let monday = monday(today)?.checked_add(weeks.weeks()).ok()?;
            format!("{} – {}", day(monday), day(monday.checked_add(6.days()).ok()?))
        }
        Meaning::Weekday(weekday, when) => day(weekday_of(weekday, when, today)?),
    })
}

fn weekday_of(weekday: Weekday, when: When, today: Date) -> Option<Date> {
    match when {
        When::Coming => today.nth_weekday(1, weekday).ok(),
        When::Past => today.nth_weekday(-1, weekday).ok(),
        When::InWeek(weeks) => {
            let days = i64::from(weekday.to_monday_zero_offset());
            monday(today)?.checked_add(weeks.weeks()).ok()?.checked_add(days.days()).ok()
        }
    }
}

fn monday(today: Date) -> Option<Date> {
    today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_dates_are_resolved_against_the_turn_in_every_language() {
        // A Wednesday.
        let at: Timestamp = "2026-03-11T23:30:00Z".parse().unwrap();
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
        ] {
            assert_eq!(dated(text, at), resolved);
        }
    }

    #[test]
    fn what_is_no_date_or_could_be_two_stays_as_it_is() {
        let at: Timestamp = "2026-03-11T10:00:00Z".parse().unwrap();
        for text in [
            "Guten Morgen!",
            "por la mañana corro",
            "the scan is on Friday",
            "every week",
            "कल मिलते हैं",
            "my tomorrowland ticket",
            "the next one",
        ] {
            assert_eq!(dated(text, at), text);
        }
    }
}
