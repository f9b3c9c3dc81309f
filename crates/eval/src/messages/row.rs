//! A labelled message or a few turns of one conversation (testdata/messages/README.md).

use serde::Deserialize;

use crate::{
    data::{Labelled, no_language},
    replay,
};
use memgate_text::normal::{one_line, plain};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub(super) id: String,
    pub(super) lang: String,
    pub(super) kind: Kind,
    pub(super) turns: Vec<Turn>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Mail,
    Web,
    Own,
    Template,
    Acts,
    Turns,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    pub(super) user: Vec<Part>,
    pub(super) assistant: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    pub(super) t: String,
    pub(super) w: Words,
    pub(super) a: Act,
    #[serde(default)]
    pub(super) k: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "the form alone is tested"))]
    pub(super) alone: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the form alone is tested"))]
    pub(super) who: Option<Who>,
    pub(super) wish: Option<Wish>,
    #[serde(default)]
    pub(super) undo: bool,
    #[serde(default)]
    pub(super) private: bool,
    #[serde(default)]
    pub(super) secret: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Words {
    Own,
    Other,
    Template,
    Fiction,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Act {
    State,
    Ask,
    Wish,
    Now,
    Remember,
    Forget,
    Correct,
    Small,
    None,
}

/// Answers that a wish is about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wish {
    Standing,
    Topic,
    Now,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Who {
    User,
    Kin,
    Assistant,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Web => "web",
            Self::Own => "own",
            Self::Template => "template",
            Self::Acts => "acts",
            Self::Turns => "turns",
        }
    }
}

impl Wish {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Standing => "standing",
            Self::Topic => "topic",
            Self::Now => "now",
        }
    }
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        no_language(&self.lang)
    }
}

impl Row {
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.turns.iter().flat_map(|turn| &turn.user)
    }

    /// Whether a client wrote a part of it.
    pub(super) fn is_template(&self) -> bool {
        self.parts().any(|part| part.w == Words::Template)
    }

    /// The turns, as they are played.
    pub(super) fn played(&self) -> Vec<replay::Turn> {
        let reply = |turn: &Turn| turn.assistant.clone().unwrap_or_else(|| "All right.".to_owned());
        let turn = |turn: &Turn| replay::Turn { user: turn.text(), assistant: reply(turn) };
        self.turns.iter().map(turn).collect()
    }
}

impl Turn {
    pub(super) fn text(&self) -> String {
        self.user.iter().map(|part| part.t.as_str()).collect::<String>().trim().to_owned()
    }
}

impl Part {
    /// The words as a memory can be searched for them.
    pub(super) fn words(&self) -> String {
        let words = plain(&one_line(&self.t));
        words.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    }

    /// Whether it is a line of a list.
    pub(super) fn is_line(&self) -> bool {
        let text = self.t.trim_start();
        let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
        text.starts_with(['-', '*', '•', '–'])
            || (number.len() < text.len() && number.starts_with(['.', ')', '、', '．']))
    }

    /// Whether it tells enough to be looked for: four words, or eight characters of Chinese or Japanese script.
    pub(super) fn tells(&self) -> bool {
        let words = self.words();
        let unspaced = words.chars().filter(|c| ('\u{3040}'..='\u{9FFF}').contains(c)).count();
        words.split_whitespace().count() >= 4 || unspaced >= 8
    }
}
