//! Which memories are presented, and why, for whoever looks into a request. It must never hold content.

use serde::Serialize;

use super::{Hit, Parts};
use crate::memory::{Memory, MemoryId};

/// A memory that is presented.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scored {
    /// Its id.
    pub id: MemoryId,
    /// Why it is.
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
        /// What that and its place are made of.
        parts: Box<Parts>,
    },
    /// It says how the user wants to be answered, whatever is asked.
    Standing,
}

impl Scored {
    /// Those of the wishes and hits that are shown, best first.
    pub(super) fn shown(wishes: &[Memory], hits: &[Hit], shown: &[MemoryId]) -> Vec<Self> {
        let found = hits.iter().map(|hit| Self {
            id: hit.memory.id.clone(),
            why: Why::Found { score: hit.score, parts: Box::new(hit.parts) },
        });
        let standing = wishes.iter().map(|wish| Self { id: wish.id.clone(), why: Why::Standing });
        standing.chain(found).filter(|scored| shown.contains(&scored.id)).collect()
    }
}
