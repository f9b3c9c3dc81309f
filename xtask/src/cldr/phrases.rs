//! CLDR's relative times as phrases with a place for a number (`{n}`) or a weekday (`{weekday}`).

use serde_json::Value;

/// CLDR's weekdays, Monday first.
pub(super) const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The beginning that two forms of a weekday's name share, in letters: "среда", "среду".
const STEM: usize = 3;

/// The names of phrases in the files, with what CLDR calls them: a field and a distance from now.
const FIXED: [(&str, &str, i8); 14] = [
    ("day_before_yesterday", "day", -2),
    ("yesterday", "day", -1),
    ("today", "day", 0),
    ("tomorrow", "day", 1),
    ("day_after_tomorrow", "day", 2),
    ("last_week", "week", -1),
    ("this_week", "week", 0),
    ("next_week", "week", 1),
    ("last_month", "month", -1),
    ("this_month", "month", 0),
    ("next_month", "month", 1),
    ("last_year", "year", -1),
    ("this_year", "year", 0),
    ("next_year", "year", 1),
];

/// Counted times: name, field, and whether they are past.
const COUNTED: [(&str, &str, &str); 8] = [
    ("days_ago", "day", "past"),
    ("weeks_ago", "week", "past"),
    ("months_ago", "month", "past"),
    ("years_ago", "year", "past"),
    ("days_ahead", "day", "future"),
    ("weeks_ahead", "week", "future"),
    ("months_ahead", "month", "future"),
    ("years_ahead", "year", "future"),
];

/// Weekdays: the distance from now, the name where it is the last, this or the next one, and where it is one of that week.
const OF_WEEKDAYS: [(i8, &str, &str); 3] = [
    (-1, "last_weekday", "weekday_of_last_week"),
    (0, "this_weekday", "weekday_of_this_week"),
    (1, "next_weekday", "weekday_of_next_week"),
];

/// All phrases of a locale, by name.
pub(super) fn phrases(fields: &Value, weekdays: &[Vec<String>]) -> Vec<(&'static str, String)> {
    let relative = |field: &str, distance: i8| {
        let text = fields.get(field)?.get(format!("relative-type-{distance}"))?.as_str()?;
        Some(text.to_lowercase())
    };
    let mut found = Vec::new();
    for (name, field, distance) in FIXED {
        found.extend(relative(field, distance).map(|phrase| (name, phrase)));
    }
    for (name, field, tense) in COUNTED {
        let forms = &fields[field][format!("relativeTime-type-{tense}")];
        for form in forms.as_object().into_iter().flat_map(|forms| forms.values()) {
            let form = form.as_str().unwrap_or_default().to_lowercase();
            found.push((name, form.replace("{0}", "{n}")));
        }
    }
    for (distance, alone, of_week) in OF_WEEKDAYS {
        let week = relative("week", distance).unwrap_or_default();
        for (field, names) in WEEKDAYS.iter().zip(weekdays) {
            let Some(phrase) = relative(field, distance) else { continue };
            // "上周日": the Sunday of last week.
            let name = if phrase.contains(&week) { of_week } else { alone };
            found.extend(with_place(&phrase, names).map(|phrase| (name, phrase)));
        }
    }
    found
}

/// A phrase with a place for the weekday that it names, in any of its forms.
fn with_place(phrase: &str, names: &[String]) -> Option<String> {
    let whole =
        names.iter().filter(|name| phrase.contains(name.as_str())).max_by_key(|name| name.len());
    if let Some(name) = whole {
        return Some(phrase.replacen(name.as_str(), "{weekday}", 1));
    }
    let stem = |word: &str| word.chars().take(STEM).collect::<String>();
    let is_form = |word: &&str| names.iter().any(|name| stem(name) == stem(word));
    let word = phrase.split(' ').rfind(is_form)?;
    Some(phrase.replacen(word, "{weekday}", 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_sunday(last: &str, week: &str, name: &str) -> Vec<(&'static str, String)> {
        let fields = json!({
            "week": {"relative-type--1": week},
            "sun": {"relative-type--1": last},
        });
        let mut names = vec![Vec::new(); 7];
        names[6] = vec![name.to_owned()];
        phrases(&fields, &names).into_iter().filter(|(_, it)| it.contains("{weekday}")).collect()
    }

    #[test]
    fn a_weekday_becomes_a_place_in_any_case_and_may_be_one_of_a_week() {
        for (last, week, name, expected) in [
            ("letzten Sonntag", "letzte Woche", "sonntag", ("last_weekday", "letzten {weekday}")),
            ("上周日", "上周", "周日", ("weekday_of_last_week", "上{weekday}")),
            (
                "в прошлую среду",
                "на прошлой неделе",
                "среда",
                ("last_weekday", "в прошлую {weekday}"),
            ),
        ] {
            assert_eq!(of_sunday(last, week, name), [(expected.0, expected.1.to_owned())]);
        }
    }

    #[test]
    fn counted_times_have_a_place_for_the_number() {
        let forms = json!({"one": "in {0} Tag", "other": "in {0} Tagen"});
        let found = phrases(&json!({"day": {"relativeTime-type-future": forms}}), &[]);
        assert_eq!(
            found,
            [("days_ahead", "in {n} tag".into()), ("days_ahead", "in {n} tagen".into())]
        );
    }
}
