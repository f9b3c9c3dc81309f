//! Summaries of sessions stand in where nothing else answers, or nothing else nearly as well. A fact or a turn says it better; beside
//! these a summary repeats them, or tells what they have corrected since.

use super::rank::Hit;
use crate::memory::{Memory, MemoryKind};

/// Takes the summaries out of what was found.
pub(super) fn without_summaries(hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
    hits.into_iter().partition(|hit| !is_summary(&hit.memory))
}

/// Whether it sums up a session.
pub(super) fn is_summary(memory: &Memory) -> bool {
    memory.kind() == MemoryKind::Summary
}
