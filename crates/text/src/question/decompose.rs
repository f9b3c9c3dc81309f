//! A question that asks for several things, in parts: each is searched for itself, since one vector of two matters
//! is near to neither.

use std::sync::LazyLock;

use regex::Regex;

use crate::{index, lang};

/// Most parts that are searched; what is asked beyond them only the whole question finds.
const MOST: usize = 3;
/// A part with fewer words of meaning is completed …
const SAYS_ENOUGH: usize = 3;
/// … by so many of the first part's.
const LENT: usize = 6;
/// The group of a language's pattern that holds where the next question begins.
const GROUP: &str = "<next>";

/// Where a question begins behind another one.
#[expect(clippy::expect_used, reason = "the patterns are constants; the tests compile them")]
static NEXT: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = lang::all(|file| &file.questions.next).enumerate();
    // A name may stand for one group only.
    let patterns = patterns.map(|(at, pattern)| pattern.replace(GROUP, &format!("<next{at}>")));
    let patterns: Vec<String> = patterns.collect();
    Regex::new(&format!(r"(?i)[?？]+\s*|{}", patterns.join("|"))).expect("a pattern compiles")
});

/// The parts of a question that asks for several things; none of one that asks for one.
pub fn of(query: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut start = 0;
    for found in NEXT.captures_iter(query) {
        let Some(all) = found.get(0) else { continue };
        let next = found.iter().skip(1).flatten().next();
        let asked = all.as_str().trim_end().len();
        let end =
            if all.as_str().starts_with(['?', '？']) { all.start() + asked } else { all.start() };
        parts.push(&query[start..end]);
        start = next.map_or(all.end(), |word| word.start());
    }
    parts.push(&query[start..]);
    parts.retain(|part| !index::content_words(part).is_empty());
    parts.truncate(MOST);
    let [first, rest @ ..] = &parts[..] else { return Vec::new() };
    if rest.is_empty() {
        return Vec::new();
    }
    let matter = index::content_words(first);
    let others = rest.iter().map(|part| completed(part.trim(), &matter));
    std::iter::once(first.trim().to_owned()).chain(others).collect()
}

/// A part that says little by itself speaks of what the first one does: "how long must I take them".
fn completed(part: &str, matter: &[&str]) -> String {
    let thin =
        index::content_words(part).len() < SAYS_ENOUGH && !part.chars().any(index::is_unspaced);
    if !thin {
        return part.to_owned();
    }
    let lent: Vec<&str> = matter.iter().copied().take(LENT).collect();
    format!("{part} {}", lent.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, parts: &[&str]) {
        assert_eq!(of(query), parts, "{query}");
    }

    #[test]
    fn questions_that_are_joined_are_told_apart() {
        check(
            "When is Mia's piano recital and what did I promise to bring along?",
            &["When is Mia's piano recital", "what did I promise to bring along?"],
        );
        check(
            "Who pays the rent? Where do I leave the spare key?",
            &["Who pays the rent?", "Where do I leave the spare key?"],
        );
    }

    #[test]
    fn questions_are_told_apart_in_many_languages() {
        for query in [
            "Wann ist das Konzert von Mia und was wollte ich zum Buffet mitbringen?",
            "¿Cuándo es el concierto de Mia y qué prometí llevar a la fiesta?",
            "Quand est le concert de Mia et qu'ai-je promis d'apporter à la fête ?",
            "Quando é o concerto da Mia e o que prometi levar para a festa?",
            "मिया का कार्यक्रम कब है और क्या लाने का वादा किया था?",
            "米娅的演出是哪天，我答应带什么？",
            "ミアの発表会はいつ、何を持っていく約束でしたか",
        ] {
            assert_eq!(of(query).len(), 2, "{query}: {:?}", of(query));
        }
    }

    #[test]
    fn a_thin_part_is_completed_by_the_first() {
        let parts = of("How many will travel to Lisbon and how long is it?");
        assert!(parts[1].contains("Lisbon"), "{parts:?}");
    }

    #[test]
    fn one_question_is_no_parts() {
        for query in [
            "What's my budget for the Hawaii trip?",
            "Tell me what Ana and Ben like",
            "Which cat did I buy and sell?",
            "我的预算是多少？",
            "",
            "??",
        ] {
            check(query, &[]);
        }
    }

    #[test]
    fn parts_are_bounded() {
        assert_eq!(of(&"Where is my red key? ".repeat(9)).len(), MOST);
    }
}
