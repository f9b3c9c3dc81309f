//! The times that a text tells from the day on which it is said: "yesterday", "nächsten Freitag", "3か月前".
//!
//! The phrases are those of `lang/cldr/` and of `[times]` in `lang/`. All languages count at once, because people mix
//! them. A phrase that could mean two times (Hindi "कल", a bare weekday) is in no list.

use std::{ops::Range, sync::LazyLock};

use jiff::civil::Weekday;
use regex::Regex;
use strum::VariantArray as _;

use crate::{
    lang::{
        Language,
        keys::{Day, TimePhrase},
    },
    time::{
        fold::{fold, folded},
        moment::{Moment, Place, Season},
        names::Names,
    },
};

/// Digits that count; more are no number of days.
const DIGITS: &str = r"\d{1,3}";

/// The times in a text and where they stand, in order; of overlapping ones the longest.
pub(crate) fn moments(text: &str) -> Vec<(Range<usize>, Moment)> {
    let folded = folded(text);
    let mut found: Vec<(Range<usize>, Moment)> = Vec::new();
    for (phrase, pattern) in PATTERNS.iter() {
        for captures in pattern.captures_iter(&folded.text) {
            let Some(whole) = captures.get(0) else { continue };
            if is_of_another_language(whole.as_str(), text) {
                continue;
            }
            let word = captures.iter().skip(1).flatten().next();
            let place = word.map_or(Some(Place::None), |word| place(word.as_str()));
            if let Some(moment) = place.and_then(|place| Moment::of(*phrase, place)) {
                found.push((folded.origin(whole.range()), moment));
            }
        }
    }
    found.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
    let mut kept: Vec<(Range<usize>, Moment)> = Vec::new();
    for (range, moment) in found {
        if kept.last().is_none_or(|(last, _)| last.end <= range.start) {
            kept.push((range, moment));
        }
    }
    kept.retain(|(_, moment)| *moment != Moment::Nothing);
    kept
}

/// Whether a phrase is another word in the text's language: "hier" is yesterday in French and here in German.
fn is_of_another_language(phrase: &str, text: &str) -> bool {
    let own = |language: &&Language| {
        language.file().times.own_language_only.iter().any(|known| fold(known) == phrase)
    };
    let mut languages = Language::ALL.iter().filter(own).peekable();
    languages.peek().is_some() && {
        let likely = Language::likely(text);
        languages.all(|language| likely != Some(*language))
    }
}

/// A pattern of each phrase. Each alternative has one group at most, for the word in its place.
static PATTERNS: LazyLock<Vec<(TimePhrase, Regex)>> = LazyLock::new(|| {
    TimePhrase::VARIANTS.iter().map(|phrase| (*phrase, pattern(*phrase))).collect()
});

#[expect(
    clippy::expect_used,
    reason = "the files of lang/ are constants; the tests compile them all"
)]
fn pattern(phrase: TimePhrase) -> Regex {
    let alternatives: Vec<String> =
        Language::ALL.iter().flat_map(|language| alternatives(phrase, *language)).collect();
    Regex::new(&alternatives.join("|")).expect("a phrase of lang/ is no pattern")
}

/// The patterns of a phrase in a language.
fn alternatives(phrase: TimePhrase, language: Language) -> Vec<String> {
    let (before, after) = match language {
        Language::Ja | Language::Zh => ("", ""),
        // Particles follow a word without a space.
        Language::Ko => (r"\b", ""),
        _ => (r"\b", r"\b"),
    };
    let file = language.file();
    let cldr = language.cldr().phrases.get(&phrase).into_iter().flatten();
    // CLDR puts spaces around numbers in Chinese and Japanese, and people mostly do not.
    let cldr =
        cldr.map(|words| if before.is_empty() { words.replace(' ', " ?") } else { words.clone() });
    let all = cldr.chain(file.times.phrases.of(phrase).iter().cloned());
    // A full stop is no letter, so no boundary of a word follows it.
    let bounded = |words: String| {
        let after = if words.ends_with('.') { "" } else { after };
        format!("{before}(?:{}){after}", with_place(&fold(&words), language))
    };
    all.map(bounded).collect()
}

/// A phrase with a group for the word in its place, if it has a place.
fn with_place(phrase: &str, language: Language) -> String {
    let times = &language.file().times;
    let group = |place: &str| match place {
        "{n}" => format!("({DIGITS}|{})", any(times.numbers.iter().flatten())),
        "{season}" => format!("({})", any(times.seasons.iter().flatten())),
        "{weekday}" => format!("({})", any(weekdays(language).map(|(name, _)| name))),
        _ => r"(\d{1,2})".to_owned(),
    };
    let places = ["{n}", "{season}", "{weekday}", "{day}"];
    match places.into_iter().find(|place| phrase.contains(place)) {
        Some(place) => phrase.replace(place, &group(place)),
        None => phrase.to_owned(),
    }
}

/// A pattern that matches any of these words, the longest first. A `*` at the end of a word matches any ending.
fn any<'a, S: AsRef<str> + ?Sized + 'a>(words: impl Iterator<Item = &'a S>) -> String {
    let mut words: Vec<String> = words.map(|word| fold(word.as_ref())).collect();
    words.sort_by_key(|word| usize::MAX - word.len());
    let patterns = words.iter().map(|word| match word.strip_suffix('*') {
        Some(beginning) => format!(r"{}[\p{{L}}\p{{M}}]*", regex::escape(beginning)),
        None => regex::escape(word),
    });
    patterns.collect::<Vec<_>>().join("|")
}

/// The names of the weekdays in a language, with `*` where any ending may follow.
fn weekdays(language: Language) -> impl Iterator<Item = (&'static str, Weekday)> {
    let cldr = WEEKDAYS.into_iter().zip(&language.cldr().weekdays);
    let cldr =
        cldr.flat_map(|(weekday, names)| names.iter().map(move |name| (name.as_str(), weekday)));
    let own =
        language.file().days.entries().filter_map(|(day, name)| Some((name, weekday_of(day)?)));
    cldr.chain(own)
}

const WEEKDAYS: [Weekday; 7] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
    Weekday::Saturday,
    Weekday::Sunday,
];

fn weekday_of(day: Day) -> Option<Weekday> {
    match day {
        Day::Monday => Some(Weekday::Monday),
        Day::Tuesday => Some(Weekday::Tuesday),
        Day::Wednesday => Some(Weekday::Wednesday),
        Day::Thursday => Some(Weekday::Thursday),
        Day::Friday => Some(Weekday::Friday),
        Day::Saturday => Some(Weekday::Saturday),
        Day::Sunday => Some(Weekday::Sunday),
        _ => None,
    }
}

/// The words that may stand in a place.
static WORDS: LazyLock<Names<Place>> = LazyLock::new(|| {
    let of_language = |language: &Language| {
        let times = &language.file().times;
        let numbers = (1..).map(Place::Number).zip(&times.numbers);
        let seasons = Season::ALL.map(Place::Season).into_iter().zip(&times.seasons);
        let listed = numbers
            .chain(seasons)
            .flat_map(|(place, names)| names.iter().map(move |name| (name.as_str(), place)));
        // "segunda" stands for "segunda-feira".
        let short = |(name, weekday): (&'static str, _)| {
            [(name.split('-').next().unwrap_or(name), weekday), (name, weekday)]
        };
        let weekdays = weekdays(*language).flat_map(short);
        listed.chain(weekdays.map(|(name, weekday)| (name, Place::Weekday(weekday))))
    };
    Names::of(Language::ALL.iter().flat_map(of_language))
});

fn place(word: &str) -> Option<Place> {
    if let Ok(number) = word.parse() {
        return Some(Place::Number(number));
    }
    WORDS.get(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_names_the_days_and_counts() {
        for (text, expected) in [
            ("ich komme morgen", Moment::Day(1)),
            ("je l'ai vu hier", Moment::Day(-1)),
            ("dopodomani parto", Moment::Day(2)),
            ("eergisteren was ik ziek", Moment::Day(-2)),
            ("послезавтра экзамен", Moment::Day(2)),
            ("어제 갔어요", Moment::Day(-1)),
            ("proximo mes me caso", Moment::Month(1)),
            ("через неделю отпуск", Moment::Ago(-1, crate::time::moment::Unit::Week)),
            ("3주 전에 샀어요", Moment::Ago(3, crate::time::moment::Unit::Week)),
            ("segunda que vem", Moment::Weekday(Weekday::Monday, crate::time::moment::Which::Next)),
            ("terça passada", Moment::Weekday(Weekday::Tuesday, crate::time::moment::Which::Last)),
        ] {
            let found: Vec<Moment> = moments(text).into_iter().map(|(_, moment)| moment).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn a_word_of_another_language_is_no_time() {
        assert_eq!(moments("Was ist hier los?"), []);
        assert_eq!(moments("Guten Morgen!"), []);
    }
}
