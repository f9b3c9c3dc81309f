//! The stored memories that a candidate has to be compared with: statements and turns of the same owner
//! and scope, nearest first.

use jiff::Timestamp;

use crate::{reconcile::turn_text::user_part, writer::MemoryWriter};
use memgate_core::memory::{
    Evidence, Memory, MemoryKind, MemoryType, Owner, QueryVector, ScopeQuery, Search, StoreError,
    Within,
};
use memgate_text::compare::{Statement, words_of};

/// Statements that a candidate is compared with, by each kind of evidence.
const STATEMENTS: usize = 20;

/// Turns whose sentences it is compared with, by each kind of evidence.
const TURNS: usize = 6;

/// The types of statements: what a fact is about decides, not which of the two it was taken for.
const STATEMENT_TYPES: [&str; 2] = [MemoryType::SEMANTIC, MemoryType::PROCEDURAL];

/// One scope of an owner's memories, of what one person said.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    owner: Owner,
    project: Option<String>,
    agent: Option<String>,
    speaker: Option<String>,
}

impl Scope {
    /// The scope of a memory.
    pub(super) fn of(memory: &Memory) -> Self {
        Self {
            owner: memory.owner.clone(),
            project: memory.project_id.clone(),
            agent: memory.agent_id.clone(),
            speaker: memory.speaker().map(str::to_owned),
        }
    }

    /// The statements that may be the same as one, or in its way. If one has only one of an
    /// attribute, also those that share neither words nor meaning with it.
    pub(super) async fn statements(
        &self,
        writer: &MemoryWriter,
        new: &Memory,
        statement: &Statement,
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
        let mut found =
            self.found(writer, search(new.text().into_owned(), vector.cloned())).await?;
        if let Some(words) = words_of(&statement.slots) {
            for more in self.found(writer, search(words, None)).await? {
                if !found.iter().any(|known| known.memory.id == more.memory.id) {
                    found.push(more);
                }
            }
        }
        let other = |memory: &Memory| {
            let is_statement =
                !matches!(memory.kind, MemoryKind::Preference | MemoryKind::Quotation);
            memory.id != new.id && is_statement
        };
        found.retain(|found| other(&found.memory));
        found.sort_by(|a, b| {
            near(b).total_cmp(&near(a)).then_with(|| a.memory.id.cmp(&b.memory.id))
        });
        Ok(found)
    }

    /// The turns in which something in its way may have been said.
    pub(super) async fn turns(
        &self,
        writer: &MemoryWriter,
        text: &str,
        statement: &Statement,
        vector: Option<&QueryVector>,
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let types = vec![MemoryType::EPISODIC.to_owned()];
        let by = self.search(types.clone(), text.to_owned(), vector.cloned(), TURNS, now);
        let mut found = self.found(writer, by).await?;
        if let Some(words) = words_of(&statement.slots) {
            found.extend(self.found(writer, self.search(types, words, None, TURNS, now)).await?);
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
    async fn by_words(
        &self,
        writer: &MemoryWriter,
        words: &str,
        now: Timestamp,
    ) -> Result<Vec<Memory>, StoreError> {
        let types = STATEMENT_TYPES.map(str::to_owned).to_vec();
        let search = self.search(types, words.to_owned(), None, STATEMENTS, now);
        Ok(self.found(writer, search).await?.into_iter().map(|found| found.memory).collect())
    }

    /// The memory of exactly these words, which an extractor says that a candidate corrects; `None` when
    /// none is stored in this scope: a model may invent one.
    pub(super) async fn corrected(
        &self,
        writer: &MemoryWriter,
        words: &str,
        now: Timestamp,
    ) -> Result<Option<Memory>, StoreError> {
        let wanted = Statement::of(words);
        let found = self.by_words(writer, words, now).await?;
        Ok(found
            .into_iter()
            .find(|memory| Statement::of(&memory.content).has_the_words_of(&wanted)))
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
            projects: Within::exactly(self.project.as_deref()),
            agents: Within::exactly(self.agent.as_deref()),
            types,
            ..ScopeQuery::of(self.owner.clone())
        };
        Search {
            scopes: vec![scope],
            shared: None,
            filter: None,
            text: Some(text),
            vector,
            limit,
            now,
        }
    }

    async fn found(
        &self,
        writer: &MemoryWriter,
        search: Search,
    ) -> Result<Vec<Evidence>, StoreError> {
        let mut found = writer.store.retrieve(&search).await?;
        // Another person's words about themselves are in nobody else's way.
        found.retain(|found| found.memory.speaker() == self.speaker.as_deref());
        Ok(found)
    }
}

fn near(found: &Evidence) -> f32 {
    found.cosine.unwrap_or(0.0)
}

/// When a stored memory was said.
pub(super) fn said_at(memory: &Memory) -> Timestamp {
    let known = memory.last_said().or(memory.valid_from).or(memory.event_time);
    known.unwrap_or(memory.created_at)
}

/// Whether a memory was said before another, in another message.
pub(super) fn is_older(old: &Memory, new: &Memory) -> bool {
    let other_turn = old.provenance.turn.is_none() || old.provenance.turn != new.provenance.turn;
    let (before, after) = (said_at(old), said_at(new));
    old.id != new.id && (before < after || (before == after && other_turn))
}
