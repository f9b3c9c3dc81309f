//! Times that a query tells from the day of asking ("yesterday", "last summer", "vor zwei Wochen", "上个月"), as periods.
//! Seasons are those of the north; days are counted in UTC. Future times were not told yet, so they give no period.

use jiff::{
    ToSpan,
    civil::{Date, Weekday},
};

use crate::time::{
    moment::{Moment, OfSeason, Season, Unit, Which, in_week, monday},
    phrases::moments,
};

/// Days from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub from: Date,
    pub until: Date,
}

/// The periods that a query names, asked on a day.
pub(crate) fn named(query: &str, asked: Date) -> impl Iterator<Item = Period> {
    moments(query).into_iter().filter_map(move |(_, moment)| period(moment, asked))
}

fn period(moment: Moment, asked: Date) -> Option<Period> {
    match moment {
        Moment::Day(days) => days_ago(-days, asked),
        Moment::Week(weeks) => week(weeks, asked),
        Moment::Weekend(weekends) => weekend(weekends, asked),
        Moment::Month(months) => month(months, asked),
        Moment::Year(years) => year(asked.year().checked_add(i16::try_from(years).ok()?)?, asked),
        Moment::Weekday(weekday, which) => day(weekday_of(weekday, which, asked)?, asked),
        Moment::Season(season, which) => season_of(season, which, asked),
        Moment::Ago(count, unit) => ago(count, unit, asked),
        Moment::DayOfMonth(number) => {
            let months = [asked, asked.first_of_month().yesterday().ok()?];
            let days = months.iter().filter_map(|it| Date::new(it.year(), it.month(), number).ok());
            day(days.filter(|day| *day <= asked).max()?, asked)
        }
        Moment::Nothing => None,
    }
}

/// As far as it is not to come.
fn between(from: Date, until: Date, asked: Date) -> Option<Period> {
    (from <= asked).then(|| Period { from, until: until.min(asked) })
}

fn day(day: Date, asked: Date) -> Option<Period> {
    between(day, day, asked)
}

fn days_ago(days: i32, asked: Date) -> Option<Period> {
    day(asked.checked_sub(days.days()).ok()?, asked)
}

fn week(weeks: i32, asked: Date) -> Option<Period> {
    let from = in_week(Weekday::Monday, weeks, asked)?;
    between(from, from.checked_add(6.days()).ok()?, asked)
}

/// The last one is the one before this week; this one is that, or has begun.
fn weekend(weekends: i32, asked: Date) -> Option<Period> {
    let sunday = monday(asked)?.yesterday().ok()?;
    match weekends {
        0 => between(sunday.yesterday().ok()?, asked, asked),
        -1 => between(sunday.yesterday().ok()?, sunday, asked),
        _ => None,
    }
}

fn month(months: i32, asked: Date) -> Option<Period> {
    let of = asked.first_of_month().checked_add(months.months()).ok()?;
    between(of, of.last_of_month(), asked)
}

fn year(year: i16, asked: Date) -> Option<Period> {
    between(Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?, asked)
}

/// A week is a few days more or less, a month some weeks.
fn ago(count: i32, unit: Unit, asked: Date) -> Option<Period> {
    let around = |centre: Result<Date, jiff::Error>, days: i32| {
        let centre = centre.ok()?;
        let until = centre.checked_add(days.days()).ok()?;
        between(centre.checked_sub(days.days()).ok()?, until, asked)
    };
    if count < 0 {
        return None;
    }
    match unit {
        Unit::Day => days_ago(count, asked),
        Unit::Week => around(asked.checked_sub(count.weeks()), 3),
        Unit::Month => around(asked.checked_sub(count.months()), 15),
        Unit::Year => year(asked.year().checked_sub(i16::try_from(count).ok()?)?, asked),
    }
}

fn weekday_of(weekday: Weekday, which: Which, asked: Date) -> Option<Date> {
    match which {
        Which::Last => asked.nth_weekday(-1, weekday).ok(),
        // Today is this one, too.
        Which::This if asked.weekday() == weekday => Some(asked),
        Which::This => asked.nth_weekday(-1, weekday).ok(),
        Which::Next => None,
        Which::InWeek(weeks) => in_week(weekday, weeks, asked),
    }
}

fn season_of(season: Season, which: OfSeason, asked: Date) -> Option<Period> {
    let years = [asked.year(), asked.year() - 1, asked.year() - 2];
    let mut seasons = years.into_iter().filter_map(|year| whole_season(season, year));
    let (from, until) = match which {
        OfSeason::Last => seasons.find(|(_, until)| *until < asked)?,
        OfSeason::This => seasons.find(|(from, _)| *from <= asked)?,
        OfSeason::InYear(years) => {
            whole_season(season, asked.year().checked_add(i16::try_from(years).ok()?)?)?
        }
    };
    between(from, until, asked)
}

/// The first and the last day of a season. Winter is the one that begins in the year.
fn whole_season(season: Season, year: i16) -> Option<(Date, Date)> {
    let month = match season {
        Season::Spring => 3,
        Season::Summer => 6,
        Season::Autumn => 9,
        Season::Winter => 12,
    };
    let from = Date::new(year, month, 1).ok()?;
    Some((from, from.checked_add(3.months()).ok()?.yesterday().ok()?))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    /// A Thursday.
    const ASKED: Date = date(2026, 4, 16);

    #[track_caller]
    fn check(query: &str, from: &str, until: &str) {
        let expected = Period { from: from.parse().unwrap(), until: until.parse().unwrap() };
        assert_eq!(named(query, ASKED).collect::<Vec<_>>(), [expected], "{query}");
    }

    #[test]
    fn days_are_told_in_many_languages() {
        for query in [
            "what did I buy yesterday?",
            "Was habe ich gestern gekauft?",
            "¿Qué compré ayer?",
            "Qu'est-ce que j'ai acheté hier ?",
            "O que comprei ontem?",
            "我昨天买了什么",
            "昨日何を買いましたか",
            "1 day ago",
            "vor einem Tag",
            "hace un día",
            "il y a un jour",
            "há um dia",
            "一天前",
            "एक दिन पहले",
        ] {
            check(query, "2026-04-15", "2026-04-15");
        }
        check("the plan of the day before yesterday", "2026-04-14", "2026-04-14");
        check("おとといの会議", "2026-04-14", "2026-04-14");
        check("What did Ana say last Friday?", "2026-04-10", "2026-04-10");
        check("el jueves pasado", "2026-04-09", "2026-04-09");
    }

    #[test]
    fn weeks_months_and_years_are_told_in_many_languages() {
        for query in [
            "what did we plan last week?",
            "vorige Woche",
            "letzte Woche",
            "la semana pasada",
            "la semaine dernière",
            "na semana passada",
            "上周我说了什么",
            "上个星期",
            "先週の会議",
            "पिछले हफ्ते क्या हुआ",
            "pichle hafte",
        ] {
            check(query, "2026-04-06", "2026-04-12");
        }
        for query in [
            "last month",
            "letzten Monat",
            "el mes pasado",
            "le mois dernier",
            "o mês passado",
            "上个月",
            "先月",
            "पिछले महीने",
        ] {
            check(query, "2026-03-01", "2026-03-31");
        }
        for query in [
            "last year",
            "letztes Jahr",
            "el año pasado",
            "l'année dernière",
            "o ano passado",
            "去年",
            "昨年",
            "पिछले साल",
            "1 year ago",
        ] {
            check(query, "2025-01-01", "2025-12-31");
        }
        for query in [
            "two months ago",
            "vor zwei Monaten",
            "hace dos meses",
            "il y a deux mois",
            "há dois meses",
            "dois meses atrás",
            "两个月前",
            "2か月前",
            "दो महीने पहले",
        ] {
            check(query, "2026-02-01", "2026-03-03");
        }
        check("this week", "2026-04-13", "2026-04-16");
        check("diesen Monat", "2026-04-01", "2026-04-16");
        check("last weekend", "2026-04-11", "2026-04-12");
    }

    #[test]
    fn seasons_are_told_in_many_languages() {
        for query in [
            "where did I go last summer",
            "letzten Sommer",
            "el verano pasado",
            "l'été dernier",
            "o verão passado",
            "去年夏天",
            "去年の夏",
            "पिछली गर्मियों में",
        ] {
            check(query, "2025-06-01", "2025-08-31");
        }
        check("last winter", "2025-12-01", "2026-02-28");
        check("this spring", "2026-03-01", "2026-04-16");
    }

    #[test]
    fn other_words_name_no_time() {
        for query in [
            "at last I did it",
            "this one",
            "Was ist hier los?",
            "my last name",
            "the past tense",
            "a while ago",
            "两个人",
            "前に",
            "year after year",
        ] {
            assert_eq!(named(query, ASKED).count(), 0, "{query}");
        }
    }

    proptest! {
        #[test]
        fn so_many_ago_holds_that_day_and_nothing_to_come(
            days in 0_i64..20_000, count in 1_i32..200, unit in 0_usize..4,
        ) {
            let asked = date(1995, 1, 1).checked_add(days.days()).unwrap();
            let (name, day) = [
                ("days", asked.checked_sub(count.days())),
                ("weeks", asked.checked_sub(count.weeks())),
                ("months", asked.checked_sub(count.months())),
                ("years", asked.checked_sub(count.years())),
            ][unit].clone();
            let found: Vec<_> = named(&format!("{count} {name} ago"), asked).collect();
            prop_assert_eq!(found.len(), 1);
            let day = day.unwrap();
            prop_assert!(found[0].from <= day && day <= found[0].until);
            prop_assert!(found[0].until < asked);
        }

        #[test]
        fn last_is_over_and_this_has_begun(days in 0_i64..20_000, thing in 0_usize..9) {
            let asked = date(1995, 1, 1).checked_add(days.days()).unwrap();
            let name = ["week", "weekend", "month", "year", "spring", "summer", "autumn", "winter", "Friday"][thing];
            let last: Vec<_> = named(&format!("last {name}"), asked).collect();
            prop_assert!(last.len() == 1 && last[0].from <= last[0].until && last[0].until < asked);
            let this: Vec<_> = named(&format!("this {name}"), asked).collect();
            prop_assert!(this.len() == 1 && this[0].from <= this[0].until && this[0].until <= asked);
            prop_assert!(last[0].from <= this[0].from);
        }

        #[test]
        fn any_text_on_any_day_is_read(query in ".{0,80}", days in -300_000_i64..2_000_000) {
            let asked = date(1970, 1, 1).saturating_add(days.days());
            prop_assert!(named(&query, asked).all(|period| period.from <= period.until));
        }

        #[test]
        fn any_words_of_time_on_any_day_are_read(
            words in prop::collection::vec(
                prop::sample::select(vec!["last", "this", "999", "zwei", "vor", "hace", "years", "Tage", "ago", "summer", "上个月", "去年", "夏", "पहले", "साल"]),
                0..8,
            ),
            days in -3_600_000_i64..2_900_000,
        ) {
            let asked = date(1970, 1, 1).saturating_add(days.days());
            let query = words.join(" ");
            prop_assert!(named(&query, asked).all(|period| period.from <= period.until));
        }
    }
}
