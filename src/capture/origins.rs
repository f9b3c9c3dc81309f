//! What goes with memories that are forgotten: the turns that they were made of, and what else was
//! made of these. The API and the user's own request forget the same.

use std::collections::{BTreeMap, HashSet};

use super::{
    extract::turns,
    journal::{Forget, StoredTurn},
    sayings::{sayings, sources},
    summarise::{ForgetError, Summaries, is_summary},
};
use crate::memory::{Actor, Memory, MemoryId, Owner, Write};

/// What memories of one owner were made of.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pub(super) turns: HashSet<Forget>,
    /// The memories of these turns.
    memories: HashSet<MemoryId>,
    /// Sessions whose summaries go, and whether for good.
    sessions: BTreeMap<String, bool>,
}

impl Origins {
    /// Of all versions of a memory, which itself is not among what it was made of.
    pub(super) fn of(versions: &[Memory]) -> Self {
        let mut origins = Self::default();
        versions.iter().for_each(|version| origins.add(version));
        origins.memories.retain(|id| versions.iter().all(|version| version.id != *id));
        origins
    }

    /// The memories of the turns.
    pub(super) fn memories(&self) -> impl Iterator<Item = &MemoryId> {
        self.memories.iter()
    }

    /// The sessions whose summaries go, and whether for good.
    pub(super) fn sessions(&self) -> &BTreeMap<String, bool> {
        &self.sessions
    }

    /// Adds what a version of a memory was made of.
    pub(super) fn add(&mut self, version: &Memory) {
        self.add_except(version, &HashSet::new());
    }

    /// The same, but for turns that something else was made of which stays.
    pub(super) fn add_except(&mut self, version: &Memory, kept: &HashSet<Forget>) {
        let sources = sources(version).filter(|source| !kept.contains(source));
        sources.for_each(|what| self.add_source(&version.owner, what));
        for session in sayings(version).filter_map(|said| said.session) {
            self.sessions.entry(session).or_default();
        }
        if let Some(session) = &version.session_id {
            // One that says it itself would be made again of the same turns.
            *self.sessions.entry(session.clone()).or_default() |= is_summary(version);
        }
    }

    /// Adds a turn.
    pub(super) fn add_turn(&mut self, turn: &StoredTurn) {
        self.add_source(&turn.owner, Forget::Turn(turn.key.clone()));
        self.sessions.entry(turn.session.clone()).or_default();
    }

    fn add_source(&mut self, owner: &Owner, what: Forget) {
        if let Forget::Turn(key) = &what {
            self.memories.insert(turns::id_of(owner, key));
        }
        self.turns.insert(what);
    }
}

impl Summaries {
    /// Forgets origins; tells how many memories that were. Nothing may run in the owner's lanes,
    /// or it could bring back what it had read before. Done again after a failure, it goes on.
    pub(super) async fn forget_origins(
        &self,
        owner: &Owner,
        origins: &Origins,
    ) -> Result<u64, ForgetError> {
        // First, while the turns tell the sessions. What is left is summed up again later.
        self.forget(owner, &origins.sessions).await?;
        if !origins.turns.is_empty() {
            let turns = origins.turns.iter().cloned().collect();
            self.journal.forget_all(owner.clone(), turns).await?;
        }
        let write = Write::by(Actor::Capture, "source forgotten");
        let memories: Vec<MemoryId> = origins.memories.iter().cloned().collect();
        Ok(self.store.forget_all(owner, &memories, &write).await?)
    }
}
