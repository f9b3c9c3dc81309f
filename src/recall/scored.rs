//! Which memories are presented, and with which scores, for whoever looks into a request. It must never hold content.

use serde::Serialize;

use super::Hit;
use crate::memory::MemoryId;

/// A memory that was found and is presented.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scored {
    /// Its id.
    pub id: MemoryId,
    /// Its calibrated relevance, 0 to 1.
    pub score: f32,
    /// What it was ordered by, see `Parts::order`.
    pub order: f32,
}

impl Scored {
    /// Those of the hits that are shown, best first.
    pub(super) fn shown(hits: &[Hit], shown: &[MemoryId]) -> Vec<Self> {
        let hits = hits.iter().filter(|hit| shown.contains(&hit.memory.id));
        let of = |hit: &Hit| Self {
            id: hit.memory.id.clone(),
            score: hit.score,
            order: hit.parts.order,
        };
        hits.map(of).collect()
    }
}
