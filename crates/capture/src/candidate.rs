//! A candidate: something worth remembering that an extractor found, not yet stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use memgate_core::memory::Source;
use memgate_text::entity::{EntityRelation, Mention};

/// Something worth remembering, not yet stored. A field that the extractor does not know stays empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Candidate {
    /// The memory's type.
    #[serde(rename = "type")]
    pub(crate) memory_type: String,
    /// A finer kind within the type: `preference`, `profile`, `task`, …
    pub(crate) sub_type: Option<String>,
    /// The fact, with what it needs to be understood alone.
    pub(crate) content: String,
    /// The user's own words, where the content says more than they do.
    pub(crate) raw: Option<String>,
    /// Where it comes from; `None` is what the extractor's finds are otherwise.
    pub(crate) source: Option<Source>,
    /// How much it matters, 0 to 1.
    pub(crate) importance: Option<f32>,
    /// How sure it is, 0 to 1.
    pub(crate) confidence: Option<f32>,
    /// How far it holds.
    pub(crate) reach: Reach,
    /// Whether it was, is or will be so.
    pub(crate) tense: Option<Tense>,
    /// When the event in it happened or will happen, if the words name a day.
    pub(crate) event_time: Option<Timestamp>,
    /// When what it tells is over, if that is known.
    pub(crate) ends: Option<Timestamp>,
    /// Who and what it speaks of.
    pub(crate) mentions: Vec<Mention>,
    /// How these stand to one another.
    pub(crate) entity_relations: Vec<EntityRelation>,
    /// When it was said, where the extractor read several turns.
    pub(crate) said_at: Option<Timestamp>,
    /// Whether it is a wish about every answer. It stands as one only in words that the user typed.
    pub(crate) standing: bool,
    /// The stored content that it corrects, as the extractor was shown it.
    pub(crate) corrects: Option<String>,
}

impl Candidate {
    /// A candidate that another person than the owner said: its content names the person.
    pub(crate) fn said_by(mut self, speaker: Option<&str>) -> Self {
        if let Some(name) = speaker {
            let content = format!("{name}: {}", self.content);
            let words = std::mem::replace(&mut self.content, content);
            self.raw.get_or_insert(words);
        }
        self
    }
}

/// How far a candidate holds, within its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reach {
    /// In the project and agent that it was said to.
    #[default]
    Said,
    /// Everywhere.
    User,
    /// In its project, whatever the agent.
    Project,
    /// With its agent, whatever the project.
    Agent,
    /// In its session.
    Session,
}

/// Whether something was, is or will be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tense {
    /// It was so, and is not any more.
    Past,
    /// It is so.
    Current,
    /// It is planned.
    Future,
}
