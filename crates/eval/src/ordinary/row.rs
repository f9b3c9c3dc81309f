//! Rows of the ordinary conversations: what a user said, what should be kept of it, and later questions.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{
    data::{Labelled, none_of},
    helper::{Labels, Taught},
    parse,
    replay::Turn,
};
use memgate_text::lang::Language;

/// Strings that a text holds together.
pub(super) type Strings = Vec<String>;

/// The conversations of one user.
#[derive(Clone, Debug, Deserialize)]
pub struct Story {
    pub(super) id: String,
    pub(super) lang: String,
    #[serde(deserialize_with = "parse::objects")]
    pub(super) sessions: Vec<Session>,
    #[serde(deserialize_with = "parse::objects")]
    pub(super) facts: Vec<Fact>,
    /// Items that are harmless to keep: neither facts nor junk.
    pub(super) acceptable: Vec<Strings>,
    #[serde(deserialize_with = "parse::objects")]
    pub(super) asks: Vec<Ask>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Session {
    pub(super) date: Date,
    #[serde(deserialize_with = "parse::objects")]
    pub(super) turns: Vec<Said>,
}

/// A turn, with the labels of its message where it has some.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Said {
    #[serde(flatten)]
    pub(super) turn: Turn,
    #[serde(flatten)]
    pub(super) taught: Taught,
}

/// A fact that a careful assistant keeps.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Fact {
    /// A text holds the fact if it holds all strings of one of these.
    pub(super) any: Vec<Strings>,
    pub(super) state: State,
    pub(super) kind: Kind,
    /// A reference wording for readers.
    pub(super) says: String,
}

/// Whether a fact holds at the end of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Now,
    /// It is over or replaced.
    Past,
    /// The user asked to forget it.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Fact,
    Preference,
    Plan,
    HowTo,
    Person,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Plan => "plan",
            Self::HowTo => "how-to",
            Self::Person => "person",
        }
    }
}

/// A question in a conversation of its own.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Ask {
    pub(super) date: Date,
    /// The conversation before the question.
    #[serde(deserialize_with = "parse::objects")]
    pub(super) turns: Vec<Turn>,
    pub(super) user: String,
    /// Wanted items, each by its wordings.
    pub(super) must: Vec<Strings>,
    /// Strings that must not be shown as current.
    pub(super) must_not: Vec<String>,
    /// A line is relevant if it holds all strings of one of these.
    pub(super) relevant: Vec<Strings>,
    /// Nothing but relevant lines should be added.
    pub(super) want_silence: bool,
}

impl Labelled for Story {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        let known: Vec<&str> = Language::ALL.iter().map(|it| it.code()).collect();
        let number = self.number().is_none();
        let no_number = || number.then(|| format!("id: {:?} does not end in a number", self.id));
        none_of("lang", &self.lang, &known).or_else(no_number)
    }
}

impl Story {
    /// Its language; English where the code is unknown, which reading refuses.
    pub(super) fn language(&self) -> Language {
        Language::of_code(&self.lang).unwrap_or(Language::En)
    }

    /// The labels of its messages.
    pub(super) fn labels(&self) -> Labels {
        let turns = self.sessions.iter().flat_map(|session| &session.turns);
        Labels::of(turns.map(|said| &said.taught))
    }

    /// The number of its id.
    fn number(&self) -> Option<u64> {
        self.id.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    }

    /// Whether the number of its id is even.
    pub(super) fn is_even(&self) -> bool {
        self.number().is_some_and(|number| number.is_multiple_of(2))
    }
}
