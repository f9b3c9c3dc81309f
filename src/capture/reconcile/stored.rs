//! What is stored that a candidate has to be compared with: statements and turns of the same owner
//! and scope, nearest first.

use jiff::Timestamp;

use super::{
    compare::{Saying, words_of},
    turns::user_part,
};
use crate::{
    capture::{keep::Keeper, sayings::last_said},
    memory::{Evidence, Memory, MemoryType, Owner, QueryVector, ScopeQuery, Search, StoreError},
};

/// Statements that a candidate is compared with, by each kind of evidence.
const STATEMENTS: usize = 20;

/// Turns whose sentences it is compared with, by each kind of evidence.
const TURNS: usize = 6;

/// The types of statements: what a fact is about decides, not which of the two it was taken for.
const STATEMENT_TYPES: [&str; 2] = [MemoryType::SEMANTIC, MemoryType::PROCEDURAL];

/// One scope of an owner's memories.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) owner: Owner,
    pub(super) project: Option<String>,
    pub(super) agent: Option<String>,
}

impl Scope {
    /// The statements that may be the same as one, or in its way. Of an attribute that one has only
    /// one of, also those that share neither words nor meaning with it.
    pub(super) async fn statements(
        &self,
        keeper: &Keeper,
        new: &Memory,
        saying: &Saying,
        vector: Option<&QueryVector>,
        now: Timestamp,
    ) -> Result<Vec<Evidence>, StoreError> {
        let mut types: Vec<String> = STATEMENT_TYPES.map(str::to_owned).to_vec();
        if !types.iter().any(|name| name == new.memory_type.as_str()) {
            types = vec![new.memory_type.to_string()];
        }
        let search = |text: String, vector: Option<QueryVector>| {
            self.search(types.clone(), text, vector, STATEMENTS, now)
        };
        let mut found = self.found(keeper, search(new.content.clone(), vector.cloned())).await?;
        if let Some(words) = words_of(&saying.slots) {
            for more in self.found(keeper, search(words, None)).await? {
                if !found.iter().any(|known| known.memory.id == more.memory.id) {
                    found.push(more);
                }
            }
        }
        found.retain(|found| found.memory.id != new.id);
        found.sort_by(|a, b| {
            near(b).total_cmp(&near(a)).then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(found)
    }

    /// The turns in which something in its way may have been said.
    pub(super) async fn turns(
        &self,
        keeper: &Keeper,
        text: &str,
        saying: &Saying,
        vector: Option<&QueryVector>,
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let types = vec![MemoryType::EPISODIC.to_owned()];
        let by = self.search(types.clone(), text.to_owned(), vector.cloned(), TURNS, now);
        let mut found = self.found(keeper, by).await?;
        if let Some(words) = words_of(&saying.slots) {
            found.extend(self.found(keeper, self.search(types, words, None, TURNS, now)).await?);
        }
        let mut turns: Vec<Memory> = Vec::new();
        for memory in found.into_iter().map(|found| found.memory) {
            if user_part(&memory).is_some() && !turns.iter().any(|turn| turn.id == memory.id) {
                turns.push(memory);
            }
        }
        Ok(turns)
    }

    /// The statements with these words in them.
    pub(super) async fn by_words(
        &self,
        keeper: &Keeper,
        words: &str,
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let types = STATEMENT_TYPES.map(str::to_owned).to_vec();
        let search = self.search(types, words.to_owned(), None, STATEMENTS, now);
        Ok(self.found(keeper, search).await?.into_iter().map(|found| found.memory).collect())
    }

    fn search(
        &self,
        types: Vec<String>,
        text: String,
        vector: Option<QueryVector>,
        limit: usize,
        now: Timestamp,
    ) -> Search {
        let scope = ScopeQuery {
            project_id: self.project.clone(),
            agent_id: self.agent.clone(),
            exact: true,
            types,
            ..ScopeQuery::of(self.owner.clone())
        };
        Search { scopes: vec![scope], filter: None, text: Some(text), vector, limit, now }
    }

    async fn found(&self, keeper: &Keeper, search: Search) -> Result<Vec<Evidence>, StoreError> {
        keeper.store.retrieve(&search).await
    }
}

fn near(found: &Evidence) -> f32 {
    found.cosine.unwrap_or(0.0)
}

/// When a stored memory was said.
pub(super) fn said_at(memory: &Memory) -> Timestamp {
    let known = last_said(memory).or(memory.valid_from).or(memory.event_time);
    known.unwrap_or(memory.created_at)
}
