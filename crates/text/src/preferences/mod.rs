//! Preferences and wishes that a user types.
//!
//! A *preference* is a value of a known key, and it holds in every conversation: "call me Sam", "always answer in
//! German". A *wish* is what no key has a value for: about every answer ("no more romaji"), or about those on a topic ("when
//! I ask about recipes, give grams"). A request about one answer ("make this shorter") is neither.
//!
//! Patterns of whole clauses find preferences and topics (section `preferences` of `lang/`). Whether a sentence is a wish about
//! every answer is the reader's to say (`memgate-models`); here is only which sentences may be one by their form. It does not know what becomes of a preference.

mod clause;
mod name;
mod patterns;
mod standing;
mod value;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    command::Typed, greeting::is_greeting, preferences::clause::Clauses, sentences::sentences,
};

pub use crate::lang::AnswerLanguage;
pub use name::UserName;
pub use standing::may_stand;
pub use value::{
    Address, Expertise, Format, InvalidPreference, Length, Preference, PreferenceKey, Tone, Units,
};

/// A preference, and the sentence that states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// The preference.
    pub preference: Preference,
    /// The user's words.
    pub words: String,
}

/// The preferences of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The preferences, in their order.
    pub stated: Vec<Stated>,
    /// The message without the sentences that state preferences and nothing else. Empty where only greetings are left.
    pub rest: String,
}

impl Reading {
    /// Reads a message of a user. Only what the user typed is read.
    #[must_use]
    pub fn of(message: &str) -> Self {
        let sentences = Typed::sentences_of(message);
        let read: Vec<(Range<usize>, Clauses)> = sentences
            .into_iter()
            .map(|(range, typed)| {
                let clauses = typed.map(|text| Clauses::of(&text, false)).unwrap_or_default();
                (range, clauses)
            })
            .collect();
        let says_more = |(range, clauses): &(Range<usize>, Clauses)| {
            clauses.may_set_task() && !is_greeting(&message[range.clone()])
        };
        let alone = !read.iter().any(says_more);
        let mut found = Self { rest: message.to_owned(), ..Self::default() };
        for (range, clauses) in read.iter().rev() {
            let preferences = clauses.preferences(alone);
            if preferences.is_empty() {
                continue;
            }
            let words = message[range.clone()].to_owned();
            let stated = preferences.into_iter().rev();
            found
                .stated
                .extend(stated.map(|preference| Stated { preference, words: words.clone() }));
            if clauses.is_read_whole() {
                found.rest.replace_range(range.clone(), "");
            }
        }
        found.stated.reverse();
        if !found.stated.is_empty() && is_empty(&found.rest) {
            found.rest.clear();
        }
        found
    }
}

/// Whether nothing is left of a message but greetings.
fn is_empty(rest: &str) -> bool {
    !rest.contains(char::is_alphanumeric) || is_greeting(rest)
}

/// The preferences in words that state preferences and nothing else; none of other words.
#[must_use]
pub fn only_preferences_in(words: &str) -> Vec<Preference> {
    let read: Vec<Clauses> = sentences(words).iter().map(|it| Clauses::of(it, true)).collect();
    let whole = read.iter().all(Clauses::is_read_whole);
    read.iter().filter(|_| whole).flat_map(|clauses| clauses.preferences(true)).collect()
}

/// The topic of a wish; `None` for a sentence that is none.
#[must_use]
pub fn wish_topic(sentence: &str) -> Option<String> {
    clause::wish_topic(sentence)
}

/// Whether a sentence asks for something in every later answer, so that it would steer a model that reads it.
#[must_use]
pub fn steers(sentence: &str) -> bool {
    clause::asks_for_every_answer(sentence)
        || !Clauses::of(sentence, false).preferences(true).is_empty()
        || wish_topic(sentence).is_some()
}

/// Compiles the patterns, so that no message waits for it.
pub fn prepare() {
    let _ = steers("call me Sam");
}

#[cfg(test)]
mod tests;
