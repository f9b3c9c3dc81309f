//! Times that a query tells from the day of asking ("yesterday", "last summer", "vor zwei Wochen", "上个月"), in
//! the languages of `question_dates.rs`, Chinese, Japanese and Hindi. Seasons are those of the north. What a word means
//! stands in `number_words.rs`; days are counted in UTC.

use std::sync::LazyLock;

use jiff::{ToSpan, civil::Date};
use regex::{Captures, Regex};

use crate::time::number_words::{Thing, number, thing};

/// Days from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub from: Date,
    pub until: Date,
}

/// How the words of a pattern stand to the day of asking.
#[derive(Clone, Copy, Debug)]
enum Sense {
    /// So many of these before: a number and a thing.
    Ago,
    /// The one before this one.
    Last,
    /// The one that goes on, or has just been.
    This,
    /// The day before yesterday, yesterday or today.
    Day,
    /// The year before last, the last or this one, or a season of it.
    Year,
}

/// A number, and a word. Which, the vocabulary tells.
const N: &str = r"(?<n>\d{1,3}|[\p{L}\p{M}]+)";
const W: &str = r"(?<w>[\p{L}\p{M}]+)";

#[expect(clippy::expect_used, reason = "the patterns are constants; the tests compile them")]
static PATTERNS: LazyLock<Vec<(Regex, Sense)>> = LazyLock::new(|| {
    use Sense::{Ago, Day, Last, This, Year};
    [
        (format!(r"(?:\b{N} {W} (?:ago|back|atrás|पहले|pehle|pahle)|\b(?:vor|hace|il y a|há) {N2} {W2})\b",
            N2 = N.replace("<n>", "<m>"), W2 = W.replace("<w>", "<v>")), Ago),
        (r"(?:^|[^\d])(?<n>\d{1,3}|[一二两兩三四五六七八九十]{1,3})(?:个|個|か|カ|ヶ|ヵ|箇)?(?<w>天|日|周|週間|週|星期|礼拜|禮拜|月|年)(?:之|以)?前".into(), Ago),
        (format!(r"\b(?:last|past|previous|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|[uú]ltim[oa]|pasad[oa]|passad[oa]|पिछल[ेीा]|गत|pi(?:ch|chh)l[eia]) {W}"), Last),
        (format!(r"\b{W} (?:pasad[oa]|anterior|derni(?:er|ère)|passée?|passad[oa])\b"), Last),
        (r"(?:上(?:一)?(?:个|個)?|先|この前の)(?<w>周末|週末|周|週|星期|礼拜|禮拜|月|春|夏|秋|冬)".into(), Last),
        (format!(r"\b(?:this|diese[nrsm]?|est[ea]|nest[ea]|cet|cette|ce|इस) {W}"), This),
        (r"(?:这(?:一)?|這(?:一)?|本|今)(?:个|個)?(?<w>周末|週末|周|週|星期|礼拜|禮拜|月|春|夏|秋|冬)".into(), This),
        (r"\b(?:(?<b>the day before yesterday|vorgestern|anteayer|antier|avant-hier|anteontem)|(?<y>yesterday|last night|gestern|ayer|anoche|d'hier|hier soir|ontem)|(?<t>today|this morning|heute|hoy|aujourd['’]hui|hoje|aaj))\b|(?<d>前天|一昨日|おととい)|(?<z>昨天|昨日|昨晚|昨夜|きのう)|(?<j>今天|今日|今早|今朝|आज)".into(), Day),
        (r"(?<d>前年|一昨年|おととし)の?(?<w>春|夏|秋|冬)?|(?<z>去年|昨年)の?(?<v>春|夏|秋|冬)?|(?<j>今年)の?(?<x>春|夏|秋|冬)?".into(), Year),
    ]
    .map(|(pattern, sense): (String, Sense)| {
        (Regex::new(&format!("(?i){pattern}")).expect("a constant pattern compiles"), sense)
    })
    .into()
});

/// "Yesterday" in French is "here" in German, so other words must tell that it is French.
#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static HIER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bhier\b.*\b(?:[jl]['’]|qu['’]|(?:je|ai|le|la|les|nous|mon|ma|mes)\b)|\b(?:[jl]['’]|qu['’]|(?:je|ai|le|la|les|nous|mon|ma|mes)\b).*\bhier\b")
        .expect("a constant pattern compiles")
});

/// The periods that a query names, asked on a day.
pub(crate) fn named(query: &str, asked: Date) -> impl Iterator<Item = Period> {
    let hier = HIER.is_match(query).then(|| days_ago(1, asked)).flatten();
    let found = PATTERNS.iter().flat_map(move |(pattern, sense)| {
        pattern.captures_iter(query).filter_map(move |found| sense.period(&found, asked))
    });
    found.chain(hier)
}

impl Sense {
    /// The period that was found; words that name none give none.
    fn period(self, found: &Captures<'_>, asked: Date) -> Option<Period> {
        let text =
            |names: &[&str]| names.iter().find_map(|name| found.name(name)).map(|it| it.as_str());
        let word = text(&["w", "v", "x"]);
        // Before the last, the last, this one.
        let back = [&["b", "d"][..], &["y", "z"], &["t", "j"]];
        let back = back.iter().zip([2, 1, 0]).find(|(names, _)| text(names).is_some());
        match self {
            Self::Ago => ago(number(text(&["n", "m"])?)?, thing(word?)?, asked),
            Self::Last => last(thing(word?)?, asked),
            Self::This => this(thing(word?)?, asked),
            Self::Day => days_ago(i32::from(back?.1), asked),
            Self::Year => {
                let of = asked.year() - back?.1;
                match word.and_then(thing) {
                    Some(Thing::Season(season)) => season_of(season, of),
                    _ => year(of),
                }
            }
        }
    }
}

fn days_ago(days: i32, asked: Date) -> Option<Period> {
    let day = asked.checked_sub(days.days()).ok()?;
    between(day, day)
}

/// A week is a few days more or less, a month some weeks.
fn ago(count: i32, thing: Thing, asked: Date) -> Option<Period> {
    let around = |centre: Result<Date, jiff::Error>, days: i32| {
        let centre = centre.ok()?;
        let from = centre.checked_sub(days.days()).ok()?;
        Some(Period { from, until: centre.checked_add(days.days()).ok()?.min(asked) })
    };
    match thing {
        Thing::Day => days_ago(count, asked),
        Thing::Week | Thing::Weekend => around(asked.checked_sub(count.weeks()), 3),
        Thing::Month => around(asked.checked_sub(count.months()), 15),
        Thing::Year => year(asked.year().checked_sub(i16::try_from(count).ok()?)?),
        Thing::Season(_) | Thing::Weekday(_) => None,
    }
}

fn last(thing: Thing, asked: Date) -> Option<Period> {
    match thing {
        Thing::Day => None,
        Thing::Week => {
            let monday = monday(asked)?;
            between(monday.checked_sub(7.days()).ok()?, monday.yesterday().ok()?)
        }
        Thing::Weekend => {
            let sunday = monday(asked)?.yesterday().ok()?;
            between(sunday.yesterday().ok()?, sunday)
        }
        Thing::Month => {
            let day = asked.first_of_month().yesterday().ok()?;
            between(day.first_of_month(), day)
        }
        Thing::Year => year(asked.year() - 1),
        Thing::Season(season) => latest(season, asked, |period| period.until < asked),
        Thing::Weekday(weekday) => {
            let back = (i32::from(asked.weekday().to_monday_zero_offset()) - weekday - 1)
                .rem_euclid(7)
                + 1;
            let day = asked.checked_sub(back.days()).ok()?;
            between(day, day)
        }
    }
}

fn this(thing: Thing, asked: Date) -> Option<Period> {
    let from = match thing {
        Thing::Day => asked,
        Thing::Week => monday(asked)?,
        Thing::Weekend => monday(asked)?.checked_sub(2.days()).ok()?,
        Thing::Month => asked.first_of_month(),
        Thing::Year => asked.first_of_year(),
        Thing::Season(season) => {
            let period = latest(season, asked, |period| period.from <= asked)?;
            return between(period.from, period.until.min(asked));
        }
        Thing::Weekday(weekday) => {
            let back = (i32::from(asked.weekday().to_monday_zero_offset()) - weekday).rem_euclid(7);
            let day = asked.checked_sub(back.days()).ok()?;
            return between(day, day);
        }
    };
    between(from, asked)
}

fn between(from: Date, until: Date) -> Option<Period> {
    Some(Period { from, until })
}

fn monday(day: Date) -> Option<Date> {
    day.checked_sub(i32::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

fn year(year: i16) -> Option<Period> {
    between(Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?)
}

/// The latest season of this kind for which something holds.
fn latest(season: i8, asked: Date, holds: impl Fn(&Period) -> bool) -> Option<Period> {
    let years = [asked.year(), asked.year() - 1, asked.year() - 2];
    years.into_iter().filter_map(|year| season_of(season, year)).find(|period| holds(period))
}

/// A season by number, spring first. Winter is the one that begins in the year.
fn season_of(season: i8, year: i16) -> Option<Period> {
    let from = Date::new(year, 3 * (season + 1), 1).ok()?;
    let until = from.checked_add(3.months()).ok()?.yesterday().ok()?;
    between(from, until)
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
