//! Where a memory comes from: the extractor that made it, and the turns in which it was said.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Names of extractors, as [`Provenance::extractor`] stores them.
pub mod extractor {
    /// Stores a turn as one memory.
    pub const TURNS: &str = "turns";
    /// Picks statements out of the user's words, with models of memgate's own.
    pub const LOCAL: &str = "local";
    /// Stores what the user asked to be remembered.
    pub const EXPLICIT: &str = "explicit";
    /// An answer of the assistant that the user asked to keep.
    pub const ANSWERS: &str = "answers";
    /// Asks a helper model for the facts in a batch of turns.
    pub const LLM: &str = "llm";
    /// Takes the values of preferences from the user's words.
    pub const PREFERENCES: &str = "preferences";
    /// Summarises a session.
    pub const SUMMARY: &str = "summary";

    /// Whether this extractor takes a memory from one turn, in the user's words.
    pub(crate) fn is_of_one_turn(name: Option<&str>) -> bool {
        name.is_some_and(|name| [TURNS, LOCAL, EXPLICIT, PREFERENCES].contains(&name))
    }
}

/// The origin of a memory: extractor and turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The journal's key of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The name of the [`extractor`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor: Option<String>,
    /// That extractor's version; a new one may re-extract what an old one made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor_version: Option<String>,
    /// When it was said: of two memories that contradict each other the later one holds, whenever
    /// they were learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// The other turns that said it, in the order in which they were learned; the last of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Occurrence>,
}

impl Provenance {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One turn, or one batch of turns, that said the content of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Occurrence {
    /// The journal's key of the turn; of a batch the last one's.
    pub turn: String,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The name of the [`extractor`] that found it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractor: Option<String>,
    /// When that turn began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
}

impl Occurrence {
    /// Whether exactly this turn said it, and not a batch of turns.
    #[must_use]
    pub fn is_of_one_turn(&self) -> bool {
        extractor::is_of_one_turn(self.extractor.as_deref())
    }
}
