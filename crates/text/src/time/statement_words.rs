//! How the languages we claim say relative dates, as patterns. Where a word
//! could mean two things (Hindi "कल", German and French "hier", a bare weekday)
//! nothing is said.

use std::{ops::Range, sync::LazyLock};

use jiff::civil::Weekday;
use regex::{Captures, Regex};

/// What a phrase means, from the day on which it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// No date, though it looks like one.
    Nothing,
    Days(i64),
    Weeks(i64),
    /// As precise as a month.
    Months(i64),
    /// As precise as a year.
    Years(i64),
    /// A whole week.
    Week(i64),
    Weekday(Weekday, When),
}

/// Which of the days of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The first one after today.
    Coming,
    /// The last one before today.
    Past,
    /// The one in a week, counted from this week.
    InWeek(i64),
}

/// How a pattern is read.
#[derive(Clone, Copy)]
enum Kind {
    Fixed(Meaning),
    /// Group `d` is a weekday.
    Day(When),
    /// Group `n` is a number, group `u` a unit; the sign tells the direction.
    Count(i64),
}

const WEEKDAYS: [(Weekday, &[&str]); 7] = [
    (
        Weekday::Monday,
        &["monday", "montag", "lunes", "lundi", "segunda", "सोमवार", "somvaar", "一", "月"],
    ),
    (
        Weekday::Tuesday,
        &["tuesday", "dienstag", "martes", "mardi", "terça", "मंगलवार", "mangalvaar", "二", "火"],
    ),
    (
        Weekday::Wednesday,
        &[
            "wednesday",
            "mittwoch",
            "miércoles",
            "mercredi",
            "quarta",
            "बुधवार",
            "budhvaar",
            "三",
            "水",
        ],
    ),
    (
        Weekday::Thursday,
        &["thursday", "donnerstag", "jueves", "jeudi", "quinta", "गुरुवार", "guruvaar", "四", "木"],
    ),
    (
        Weekday::Friday,
        &["friday", "freitag", "viernes", "vendredi", "sexta", "शुक्रवार", "shukravaar", "五", "金"],
    ),
    (
        Weekday::Saturday,
        &["saturday", "samstag", "sábado", "samedi", "शनिवार", "shanivaar", "六", "土"],
    ),
    (
        Weekday::Sunday,
        &["sunday", "sonntag", "domingo", "dimanche", "रविवार", "ravivaar", "日", "天"],
    ),
];

const NUMBERS: [&[&str]; 10] = [
    &["a", "an", "one", "einem", "einer", "ein", "un", "una", "une", "um", "uma", "एक", "ek", "一"],
    &["two", "zwei", "dos", "deux", "dois", "duas", "दो", "do", "二", "两", "兩"],
    &["three", "drei", "tres", "trois", "três", "तीन", "teen", "三"],
    &["four", "vier", "cuatro", "quatre", "quatro", "चार", "char", "四"],
    &["five", "fünf", "cinco", "cinq", "पाँच", "五"],
    &["six", "sechs", "seis", "छह", "六"],
    &["seven", "sieben", "siete", "sept", "sete", "सात", "七"],
    &["eight", "acht", "ocho", "huit", "oito", "आठ", "八"],
    &["nine", "neun", "nueve", "neuf", "nove", "नौ", "九"],
    &["ten", "zehn", "diez", "dix", "dez", "दस", "十"],
];

/// What a count of it means, and its names; of a longer word the beginning.
type Unit = (fn(i64) -> Meaning, &'static [&'static str]);

const UNITS: [Unit; 4] = [
    (Meaning::Days, &["day", "tag", "día", "jour", "dia", "दिन", "din", "天", "日"]),
    (
        Meaning::Weeks,
        &["week", "woche", "semana", "semaine", "हफ़्ते", "हफ्ते", "hafte", "周", "週", "星期"],
    ),
    (
        Meaning::Months,
        &["month", "monat", "mes", "mois", "mês", "महीने", "mahine", "个月", "個月", "か月", "ヶ月"],
    ),
    (Meaning::Years, &["year", "jahr", "año", "an", "ano", "साल", "saal", "年"]),
];

const ENGLISH_DAY: &str = "(?P<d>(?:mon|tues|wednes|thurs|fri|satur|sun)day)";
const GERMAN_DAY: &str = "(?P<d>montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)";
const SPANISH_DAY: &str = "(?P<d>lunes|martes|miércoles|jueves|viernes|sábado|domingo)";
const FRENCH_DAY: &str = "(?P<d>lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)";
const PORTUGUESE_DAY: &str = "(?P<d>segunda|terça|quarta|quinta|sexta|sábado|domingo)(?:-feira)?";
const HINDI_DAY: &str = "(?P<d>सोमवार|मंगलवार|बुधवार|गुरुवार|शुक्रवार|शनिवार|रविवार|somvaar|mangalvaar|budhvaar|guruvaar|shukravaar|shanivaar|ravivaar)";
const NUMBER: &str = r"(?P<n>\d{1,3}|\p{L}\p{M}*(?:[\p{L}\p{M}]){0,6})";

static PATTERNS: LazyLock<Vec<(Regex, Kind)>> = LazyLock::new(|| {
    use Kind::{Count, Day, Fixed};
    use Meaning::{Days, Months, Nothing, Week, Years};
    let words = |source: &str, kind| (pattern(&format!(r"(?i)\b(?:{source})\b")), kind);
    let bare = |source: &str, kind| (pattern(&format!("(?i)(?:{source})")), kind);
    vec![
        words(
            "day after tomorrow|übermorgen|pasado mañana|après-demain|depois de amanhã",
            Fixed(Days(2)),
        ),
        words("day before yesterday|vorgestern|anteayer|avant-hier|anteontem", Fixed(Days(-2))),
        words(
            r"guten morgen|(?:am|jeden|diesen|heute|gestern) morgen|(?:la|esta|cada|una) mañana",
            Fixed(Nothing),
        ),
        words("tomorrow|morgen|mañana|demain|amanhã", Fixed(Days(1))),
        words("yesterday|gestern|ayer|ontem", Fixed(Days(-1))),
        words("today|tonight|heute|hoy|aujourd['’]hui|hoje|aaj", Fixed(Days(0))),
        words(&format!("(?:next|this|this coming|the coming) {ENGLISH_DAY}"), Day(When::Coming)),
        words(&format!("last {ENGLISH_DAY}"), Day(When::Past)),
        words(
            &format!("(?:nächste[nrs]?|kommende[nrs]?|diese[nrs]?) {GERMAN_DAY}"),
            Day(When::Coming),
        ),
        words(&format!("(?:letzte[nrs]?|vergangene[nrs]?) {GERMAN_DAY}"), Day(When::Past)),
        words(&format!("{SPANISH_DAY} (?:que viene|próximo)"), Day(When::Coming)),
        words(&format!("próximo {SPANISH_DAY}"), Day(When::Coming)),
        words(&format!("{SPANISH_DAY} pasado"), Day(When::Past)),
        words(&format!("{FRENCH_DAY} prochain"), Day(When::Coming)),
        words(&format!("{FRENCH_DAY} dernier"), Day(When::Past)),
        words(&format!("{PORTUGUESE_DAY} que vem"), Day(When::Coming)),
        words(&format!("próxim[ao] {PORTUGUESE_DAY}"), Day(When::Coming)),
        words(&format!("{PORTUGUESE_DAY} passad[ao]"), Day(When::Past)),
        bare(&format!("(?:अगले|agle) {HINDI_DAY}"), Day(When::Coming)),
        bare(&format!("(?:पिछले|pichle) {HINDI_DAY}"), Day(When::Past)),
        words(
            "next week|nächste woche|la semana que viene|próxima semana|semaine prochaine|semana que vem",
            Fixed(Week(1)),
        ),
        words(
            "last week|letzte woche|semana pasada|semaine dernière|semana passada",
            Fixed(Week(-1)),
        ),
        words(
            "next month|nächsten monat|mes que viene|próximo mes|mois prochain|mês que vem|próximo mês",
            Fixed(Months(1)),
        ),
        words("last month|letzten monat|mes pasado|mois dernier|mês passado", Fixed(Months(-1))),
        words(
            "next year|nächstes jahr|año que viene|próximo año|(?:l'an|année) prochaine?|ano que vem|próximo ano",
            Fixed(Years(1)),
        ),
        words(
            "last year|letztes jahr|año pasado|(?:l'an|année) derni(?:er|ère)|ano passado",
            Fixed(Years(-1)),
        ),
        bare("अगले ह(?:फ़|फ)्ते|agle hafte", Fixed(Week(1))),
        bare("अगले महीने|agle mahine", Fixed(Months(1))),
        bare("अगले साल|agle saal", Fixed(Years(1))),
        bare("पिछले ह(?:फ़|फ)्ते|pichle hafte", Fixed(Week(-1))),
        bare("पिछले महीने|pichle mahine", Fixed(Months(-1))),
        bare("पिछले साल|pichle saal", Fixed(Years(-1))),
        words(
            &format!(
                r"(?:in|dentro de|en|dans|daqui a|em) {NUMBER} (?P<u>days?|weeks?|months?|years?|tagen?|wochen?|monate?n?|jahre?n?|días?|semanas?|mes(?:es)?|años?|jours?|semaines?|mois|ans?|dias?|mês|anos?)"
            ),
            Count(1),
        ),
        words(&format!("{NUMBER} (?P<u>days?|weeks?|months?|years?) ago"), Count(-1)),
        words(
            &format!(
                "(?:vor|hace|il y a|há) {NUMBER} (?P<u>tagen?|wochen?|monate?n?|jahre?n?|días?|semanas?|mes(?:es)?|años?|jours?|semaines?|mois|ans?|dias?|mês|anos?)"
            ),
            Count(-1),
        ),
        bare("大后天|大後天", Fixed(Days(3))),
        bare("后天|後天|明後日|あさって", Fixed(Days(2))),
        bare("前天|一昨日|おととい", Fixed(Days(-2))),
        bare("明天|明日|あした", Fixed(Days(1))),
        bare("昨天|昨日|きのう", Fixed(Days(-1))),
        bare("今天|今日|आज", Fixed(Days(0))),
        bare("下(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<d>[一二三四五六日天])", Day(When::InWeek(1))),
        bare(
            "(?:这|這|本)(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<d>[一二三四五六日天])",
            Day(When::InWeek(0)),
        ),
        bare(
            "上(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<d>[一二三四五六日天])",
            Day(When::InWeek(-1)),
        ),
        bare("来週の?(?P<d>[月火水木金土日])曜日?", Day(When::InWeek(1))),
        bare("今週の?(?P<d>[月火水木金土日])曜日?", Day(When::InWeek(0))),
        bare("先週の?(?P<d>[月火水木金土日])曜日?", Day(When::InWeek(-1))),
        bare("下(?:个|個)?(?:周|週|星期|礼拜|禮拜)|来週", Fixed(Week(1))),
        bare("上(?:个|個)?(?:周|週|星期|礼拜|禮拜)|先週", Fixed(Week(-1))),
        bare("下(?:个|個)?月|来月", Fixed(Months(1))),
        bare("上(?:个|個)?月|先月", Fixed(Months(-1))),
        bare("明年|来年", Fixed(Years(1))),
        bare("去年|昨年", Fixed(Years(-1))),
        bare(
            r"(?P<n>\d{1,3}|[一二两兩三四五六七八九十])(?P<u>天|日|周|週|星期|个月|個月|か月|ヶ月|年)(?:之)?(?:后|後)",
            Count(1),
        ),
        bare(
            r"(?P<n>\d{1,3}|[一二两兩三四五六七八九十])(?P<u>天|日|周|週|星期|个月|個月|か月|ヶ月|年)(?:之)?前",
            Count(-1),
        ),
    ]
});

#[expect(clippy::expect_used, reason = "constant; the tests of dates compile them all")]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a date pattern does not compile")
}

/// Everything in a text that says a relative date; may overlap.
pub(crate) fn matches(text: &str) -> Vec<(Range<usize>, Meaning)> {
    let mut found = Vec::new();
    for (pattern, kind) in PATTERNS.iter() {
        for captures in pattern.captures_iter(text) {
            if let (Some(whole), Some(meaning)) = (captures.get(0), meaning(*kind, &captures)) {
                found.push((whole.range(), meaning));
            }
        }
    }
    found
}

fn meaning(kind: Kind, captures: &Captures<'_>) -> Option<Meaning> {
    let group = |name| captures.name(name).map(|m| m.as_str().to_lowercase());
    match kind {
        Kind::Fixed(meaning) => Some(meaning),
        Kind::Day(when) => {
            let said = group("d")?;
            let (weekday, _) = WEEKDAYS.iter().find(|(_, names)| names.contains(&said.as_str()))?;
            Some(Meaning::Weekday(*weekday, when))
        }
        Kind::Count(sign) => {
            let (count, said) = (number(&group("n")?)?, group("u")?);
            // The longest name that fits: "mes" of "meses" and not "me".
            let (unit, _) = UNITS
                .iter()
                .flat_map(|(unit, names)| names.iter().map(move |name| (unit, name)))
                .filter(|(_, name)| said.starts_with(**name))
                .max_by_key(|(_, name)| name.len())?;
            Some(unit(sign * count))
        }
    }
}

fn number(said: &str) -> Option<i64> {
    if let Ok(number) = said.parse() {
        return Some(number);
    }
    let at = NUMBERS.iter().position(|names| names.contains(&said))?;
    i64::try_from(at + 1).ok()
}
