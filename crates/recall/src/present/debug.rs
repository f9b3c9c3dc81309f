//! Debug metadata: which memories are presented, and why. It holds no content.

use serde::Serialize;

use crate::{
    hit::{Hit, ScoreBreakdown},
    present::preferences::Wanted,
};
use memgate_core::memory::MemoryId;

/// A memory that is presented.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresentedMemory {
    /// Its id.
    pub id: MemoryId,
    /// Why it is presented.
    #[serde(flatten)]
    pub why: Why,
}

/// Why a memory is presented.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    /// It was found.
    Found {
        /// Its calibrated relevance, 0 to 1.
        score: f32,
        /// What the score and the place in the order are made of.
        #[serde(rename = "parts")]
        breakdown: Box<ScoreBreakdown>,
    },
    /// It is a preference or a wish about every answer, presented whatever is asked.
    Preference,
}

impl PresentedMemory {
    /// The preferences and hits that are shown, best first.
    pub(crate) fn of(wanted: &Wanted, hits: &[Hit], shown: &[MemoryId]) -> Vec<Self> {
        let found = hits.iter().map(|hit| Self {
            id: hit.memory.id.clone(),
            why: Why::Found { score: hit.score, breakdown: Box::new(hit.breakdown) },
        });
        let ids = wanted.preferences.iter().map(|it| &it.id);
        let ids = ids.chain(wanted.wishes.iter().map(|wish| &wish.id));
        let preferences = ids.map(|id| Self { id: id.clone(), why: Why::Preference });
        preferences.chain(found).filter(|scored| shown.contains(&scored.id)).collect()
    }
}
