//! The cascade of forgetting: the turns that memories were made of, and what else was made of
//! these. The API and the user's own request forget the same.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::{
    error::ForgetError, forget::summaries::forget_summaries, journal::Forget, parts::Parts,
    turn::StoredTurn,
};
use memgate_core::memory::{Actor, Memory, MemoryId, MemoryKind, Occurrence, Owner, Write};

/// Turns and sessions that memories of one owner were made of.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    pub(crate) turns: HashSet<Forget>,
    /// The memories of these turns.
    memories: HashSet<MemoryId>,
    /// Sessions whose summaries go, and whether for good.
    sessions: BTreeMap<String, bool>,
}

impl Origins {
    /// The origins of all versions of a memory; the memory itself is not among them.
    pub(crate) fn of(versions: &[Memory]) -> Self {
        let mut origins = Self::default();
        versions.iter().for_each(|version| origins.add(version));
        origins.memories.retain(|id| versions.iter().all(|version| version.id != *id));
        origins
    }

    /// The memories of the turns.
    pub(crate) fn memories(&self) -> impl Iterator<Item = &MemoryId> {
        self.memories.iter()
    }

    /// Lets the memory of one of the turns stay.
    pub(super) fn keep_memory(&mut self, id: &MemoryId) {
        self.memories.remove(id);
    }

    /// The sessions whose summaries go, and whether for good.
    pub(crate) fn sessions(&self) -> &BTreeMap<String, bool> {
        &self.sessions
    }

    /// Adds what a version of a memory was made of.
    pub(crate) fn add(&mut self, version: &Memory) {
        self.add_except(version, &HashSet::new());
    }

    /// The same, but for turns that something else was made of which stays.
    pub(crate) fn add_except(&mut self, version: &Memory, kept: &HashSet<Forget>) {
        let sources = sources(version).filter(|source| !kept.contains(source));
        sources.for_each(|what| self.add_source(&version.owner, what));
        for session in version.occurrences().filter_map(|said| said.session) {
            self.sessions.entry(session).or_default();
        }
        if let Some(session) = &version.session_id {
            // One that says it itself would be made again of the same turns.
            *self.sessions.entry(session.clone()).or_default() |=
                version.kind == MemoryKind::Summary;
        }
    }

    /// Adds a turn.
    pub(crate) fn add_turn(&mut self, turn: &StoredTurn) {
        self.add_source(&turn.owner, Forget::Turn(turn.key.clone()));
        self.sessions.entry(turn.session.clone()).or_default();
    }

    fn add_source(&mut self, owner: &Owner, what: Forget) {
        if let Forget::Turn(key) = &what {
            self.memories.insert(MemoryId::of_turn(owner, key));
        }
        self.turns.insert(what);
    }
}

/// The turns that a version of a memory was made of.
pub(super) fn sources(memory: &Memory) -> impl Iterator<Item = Forget> {
    // All that had been said by then may be what it was found in.
    let first = memory.first_occurrence().map(|occurrence| source(occurrence, memory.updated_at));
    let again = memory.provenance.again.iter().cloned();
    first.into_iter().chain(again.map(|occurrence| {
        let until = occurrence.said_at.unwrap_or(memory.updated_at);
        source(occurrence, until)
    }))
}

fn source(occurrence: Occurrence, until: Timestamp) -> Forget {
    let is_of_one_turn = occurrence.is_of_one_turn();
    match occurrence.session {
        Some(session) if !is_of_one_turn => Forget::Found { session, turn: occurrence.turn, until },
        _ => Forget::Turn(occurrence.turn),
    }
}

/// Forgets origins. Returns how many memories that were. Nothing may run in the owner's lanes, or it
/// could bring back what it had read before. Safe to run again after a failure.
pub(crate) async fn forget_origins(
    parts: &Parts,
    owner: &Owner,
    origins: &Origins,
) -> Result<u64, ForgetError> {
    // First, while the turns still name the sessions. What is left is summed up again later.
    forget_summaries(parts, owner, &origins.sessions).await?;
    if !origins.turns.is_empty() {
        let turns = origins.turns.iter().cloned().collect();
        parts.journal.forget_all(owner.clone(), turns).await?;
    }
    let write = Write::by(Actor::Capture, "source forgotten");
    let memories: Vec<MemoryId> = origins.memories.iter().cloned().collect();
    Ok(parts.writer.store.forget_all(owner, &memories, &write).await?)
}
