//! The request of one sentence to memory, without the words that lead to it. Pure patterns.

use std::ops::Range;

use crate::{command::patterns::List, first_person::is_personal};

/// The longest name of a topic to be forgotten, in words; more is no name.
const MAX_TOPIC_WORDS: usize = 7;

/// A request; the places are those of what it names in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A statement to be remembered.
    Remember(Range<usize>),
    /// The sentences before are to be remembered.
    RememberBefore,
    /// The sentences before are to be forgotten.
    ForgetBefore,
    /// A statement to be forgotten.
    ForgetFact(Range<usize>),
    /// A topic to be forgotten.
    ForgetTopic(Range<usize>),
}

/// Reads the request of a text that has neither leads nor courtesy. One that asks whether something `can` be done must
/// speak of the speaker: "can you remember that film" does not.
pub(super) fn read(text: &str, can: bool) -> Option<Request> {
    if List::RememberBefore.is_match(text) {
        return Some(Request::RememberBefore);
    }
    if List::ForgetBefore.is_match(text) {
        return Some(Request::ForgetBefore);
    }
    let english = is_english(text);
    to_remember(text, english, can).map(Request::Remember).or_else(|| to_forget(text, english))
}

fn to_remember(text: &str, english: bool, can: bool) -> Option<Range<usize>> {
    // Other languages have a word for "that" which is no "that film".
    let tells = |what: &str| {
        let clause = || List::Clause.is_match(what) && !List::Thing.is_match(what);
        !List::Talk.is_match(what) && (!english || clause())
    };
    let mine = |what: &str| tells(what) && is_personal(what);
    let own = |what: &str| List::Subject.is_match(what) && mine(what);
    let rule = |what: &str| List::Rule.is_match(what.strip_prefix("to ").unwrap_or(what));
    find(text, List::RememberRule, rule)
        .or_else(|| find(text, List::Remember, |what| if can { mine(what) } else { tells(what) }))
        .or_else(|| find(text, List::RememberBare, own))
        .or_else(|| find(text, List::RememberMine, mine))
}

fn to_forget(text: &str, english: bool) -> Option<Request> {
    let meant = |what: &str| !List::Talk.is_match(what) && !List::Aside.is_match(what);
    let topic = |what: &str| {
        let short = what.split_whitespace().count() <= MAX_TOPIC_WORDS;
        meant(what) && short && !what.contains([',', ';', ':'])
    };
    let my_topic = |what: &str| topic(what) && List::Mine.is_match(what);
    let whose = |what: &str| {
        let own = || List::Subject.is_match(what) && (!english || List::Clause.is_match(what));
        meant(what) && (List::Named.is_match(what) || own())
    };
    let fact =
        |text| find(text, List::ForgetFact, meant).or_else(|| find(text, List::ForgetMine, whose));
    find(text, List::ForgetTopic, topic)
        .map(Request::ForgetTopic)
        .or_else(|| fact(text).map(Request::ForgetFact))
        .or_else(|| find(text, List::ForgetMyTopic, my_topic).map(Request::ForgetTopic))
}

/// Where a text holds what one of a list's patterns names, if it fits.
fn find(text: &str, list: List, fits: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    list.captured(text).into_iter().find(|what| fits(&text[what.clone()]))
}

/// English alone says "that" of clauses and of things alike.
fn is_english(request: &str) -> bool {
    let stem = [
        "remember", "memori", "forget", "note", "keep", "bear", "for ", "make", "take", "always",
        "do not", "don", "never", "stop", "quit", "delete", "remove", "erase", "you ",
    ];
    let lower = request.to_lowercase();
    stem.iter().any(|stem| lower.starts_with(stem))
}
