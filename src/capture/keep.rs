//! Memories into the store, with their vectors; once, however often it is asked.

use std::{collections::HashSet, sync::Arc};

use jiff::Timestamp;

use super::{Tools, extract::turns::parts_of};
use crate::{
    embed::{Embedder, Vector},
    memory::{Embedding, Memory, MemoryId, MemoryStore, Owner, StoreError, Write},
    models::Models,
    telemetry::Metrics,
};

/// Whether a memory has its vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "without vectors somebody has to make them later"]
pub(super) enum Kept {
    /// It has, or needs no new ones.
    Whole,
    /// The embedder failed; the memory is found by its words until it has them.
    WithoutVectors,
}

/// Who writes memories.
pub(super) struct Keeper {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) models: Arc<Models>,
    pub(super) metrics: Arc<Metrics>,
}

impl Keeper {
    /// Stores a memory under its derived id, or gives the one that is there the
    /// new content. Nothing happens when it has that already.
    pub(super) async fn put(
        &self,
        memory: Memory,
        parts: Vec<String>,
        write: &Write,
    ) -> Result<Kept, StoreError> {
        match self.store.get(&memory.owner, &memory.id, memory.updated_at).await {
            Ok(old) if old.content == memory.content || !old.status.is_in_use() => Ok(Kept::Whole),
            Ok(old) => {
                let new = Memory {
                    content: memory.content,
                    raw: memory.raw,
                    provenance: memory.provenance,
                    updated_at: memory.updated_at,
                    ..old
                };
                self.replace(new, parts, write).await.map(|(_, kept)| kept)
            }
            Err(StoreError::NotFound) => {
                self.create(memory, parts, write).await.map(|(_, kept)| kept)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a new memory.
    pub(super) async fn create(
        &self,
        memory: Memory,
        parts: Vec<String>,
        write: &Write,
    ) -> Result<(Memory, Kept), StoreError> {
        let (vectors, kept) = self.embed(parts).await;
        let stored = self.store.store(memory, vectors, write).await?;
        self.metrics.stored(stored.memory_type.as_str());
        Ok((stored, kept))
    }

    /// Writes a new version of a memory, as it was read but for its content.
    pub(super) async fn replace(
        &self,
        memory: Memory,
        parts: Vec<String>,
        write: &Write,
    ) -> Result<(Memory, Kept), StoreError> {
        let (vectors, kept) = self.embed(parts).await;
        let stored = self.store.update(memory, Some(vectors), write).await?;
        self.metrics.stored(stored.memory_type.as_str());
        Ok((stored, kept))
    }

    /// Gives at most so many memories their missing vectors, but for those that are passed over:
    /// more of these are found when their texts fail. Tells how many got them, or why it failed.
    pub(super) async fn embed_missing(
        &self,
        most: usize,
        passed_over: &mut HashSet<(Owner, MemoryId)>,
    ) -> Result<usize, String> {
        let space = self.embedder.space().id();
        let missing = self.store.unembedded(&space, most + passed_over.len()).await;
        let mut missing = missing.map_err(|error| error.to_string())?;
        missing.retain(|memory| !passed_over.contains(&key(memory)));
        if missing.is_empty() {
            return Ok(0);
        }
        // In one go: on a server that is one request.
        let parts: Vec<Vec<String>> = missing.iter().map(parts_of).collect();
        let together = self.embedder.embed_passages(parts.concat()).await;
        let mut together = match together {
            Ok(vectors) => Some(vectors.into_iter()),
            Err(error) if error.may_be_the_text() => None,
            Err(error) => return Err(error.to_string()),
        };
        let mut embedded = 0;
        for (memory, parts) in missing.iter().zip(parts) {
            let vectors = match &mut together {
                Some(vectors) => Ok(vectors.take(parts.len()).collect()),
                None => self.embedder.embed_passages(parts).await,
            };
            match vectors {
                Ok(vectors) => {
                    let vectors = self.in_space(vectors);
                    let given =
                        self.store.embed(&memory.owner, &memory.id, memory.version, vectors).await;
                    given.map_err(|error| error.to_string())?;
                    embedded += 1;
                }
                Err(error) if error.may_be_the_text() => {
                    tracing::debug!(%error, "a memory goes on without vectors");
                    passed_over.insert(key(memory));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(embedded)
    }

    async fn embed(&self, parts: Vec<String>) -> (Vec<Embedding>, Kept) {
        match self.vectors(parts).await {
            Ok(vectors) => (vectors, Kept::Whole),
            Err(error) => {
                self.metrics.failed("embedding");
                tracing::debug!(%error, "a memory is stored without vectors");
                (Vec::new(), Kept::WithoutVectors)
            }
        }
    }

    async fn vectors(
        &self,
        parts: Vec<String>,
    ) -> Result<Vec<Embedding>, crate::embed::EmbedError> {
        Ok(self.in_space(self.embedder.embed_passages(parts).await?))
    }

    fn in_space(&self, vectors: Vec<Vector>) -> Vec<Embedding> {
        let space: Arc<str> = self.embedder.space().id().into();
        (0..)
            .zip(vectors)
            .map(|(part, values)| Embedding { space: space.clone(), part, values })
            .collect()
    }
}

fn key(memory: &Memory) -> (Owner, MemoryId) {
    (memory.owner.clone(), memory.id.clone())
}

/// Gives memories their missing vectors, step by step, for whoever waits for it.
pub struct Backfill {
    keeper: Keeper,
    passed_over: HashSet<(Owner, MemoryId)>,
}

impl Backfill {
    /// With this store and this model.
    #[must_use]
    pub fn new(tools: Tools) -> Self {
        let Tools { store, embedder, models, metrics } = tools;
        Self { keeper: Keeper { store, embedder, models, metrics }, passed_over: HashSet::new() }
    }

    /// At most so many memories, the oldest first; tells how many got vectors, 0 at the end.
    ///
    /// # Errors
    /// Why store or model failed.
    pub async fn step(&mut self, most: usize) -> Result<usize, String> {
        loop {
            let before = self.passed_over.len();
            let embedded = self.keeper.embed_missing(most, &mut self.passed_over).await?;
            // Else none of these can be embedded, and there may be others.
            if embedded > 0 || self.passed_over.len() == before {
                return Ok(embedded);
            }
        }
    }

    /// How many have texts that the model cannot embed.
    #[must_use]
    pub fn passed_over(&self) -> usize {
        self.passed_over.len()
    }
}

/// The time as stores keep it: they cut to milliseconds or microseconds.
pub(super) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
