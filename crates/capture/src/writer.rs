//! Writes memories to the store with their vectors. Written twice, a memory is stored once.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{settings::AnonymousBounds, trail::TurnTrail};
use memgate_access::Audit;
use memgate_core::{
    clock::Clock,
    memory::{
        Embedding, Filter, ListQuery, Memory, MemoryStore, ScopeQuery, Space, Status, StoreError,
        Visibility, Write,
    },
};
use memgate_embed::{EmbedError, Embedder, Vector};
use memgate_models::Models;
use memgate_telemetry::Metrics;

/// Whether a memory was written with its vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "missing vectors must be made later"]
pub(super) enum Written {
    /// It was, or needs no new ones.
    Whole,
    /// The embedder failed; the memory is found by its words until it has them.
    WithoutVectors,
}

/// The services that capture needs.
pub struct Tools {
    /// Where memories go.
    pub store: Arc<dyn MemoryStore>,
    /// Makes their vectors.
    pub embedder: Arc<dyn Embedder>,
    /// The trained models for that embedder.
    pub models: Arc<Models>,
    /// Where forgetting is recorded.
    pub audit: Audit,
    /// Metrics of all parts.
    pub metrics: Arc<Metrics>,
    /// Where it is noted what became of each turn, and why.
    pub trail: TurnTrail,
    /// Tells when jobs are due, and dates what is stored.
    pub clock: Clock,
}

/// Writes memories to the store.
pub(super) struct MemoryWriter {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) models: Arc<Models>,
    pub(super) audit: Audit,
    pub(super) metrics: Arc<Metrics>,
    pub(super) trail: TurnTrail,
    pub(super) anonymous: AnonymousBounds,
}

/// Memories of a session that are removed at once when it has too many.
const SURPLUS: usize = 100;

impl MemoryWriter {
    pub(super) fn new(tools: Tools, anonymous: AnonymousBounds) -> Self {
        let Tools { store, embedder, models, audit, metrics, trail, clock: _ } = tools;
        Self { store, embedder, models, audit, metrics, trail, anonymous }
    }

    /// The memory as it is to be stored: that of a session without a user ends.
    pub(super) fn ending(&self, memory: Memory) -> Memory {
        match memory.owner.space() {
            Space::Session(_) => {
                Memory { expires_at: Some(self.end_after(memory.updated_at)), ..memory }
            }
            Space::User(_) | Space::Agent(_) | Space::Organisation => memory,
        }
    }

    /// When what is known of a session without a user ends, if nothing is said in it after `last`.
    pub(super) fn end_after(&self, last: Timestamp) -> Timestamp {
        last.checked_add(self.anonymous.ttl).unwrap_or(Timestamp::MAX)
    }

    /// Removes the oldest memories of a session without a user that has too many.
    pub(super) async fn bound(&self, stored: &Memory, write: &Write) -> Result<(), StoreError> {
        let Space::Session(_) = stored.owner.space() else { return Ok(()) };
        let kept = ListQuery {
            scope: ScopeQuery::of(stored.owner.clone()),
            filter: Some(Filter::Status(Status::ALL.to_vec())),
            limit: self.anonymous.memories,
            cursor: None,
            now: stored.updated_at,
        };
        let Some(cursor) = self.store.list(&kept).await?.next else { return Ok(()) };
        let surplus = ListQuery { limit: SURPLUS, cursor: Some(cursor), ..kept };
        let surplus = self.store.list(&surplus).await?.memories;
        let ids: Vec<_> = surplus.into_iter().map(|memory| memory.id).collect();
        self.store.forget_all(&stored.owner, &ids, write).await?;
        Ok(())
    }

    /// Stores a memory under its derived id, or gives the one that is there the
    /// new content. Nothing happens when it has that already.
    pub(super) async fn put(
        &self,
        memory: Memory,
        passages: Vec<String>,
        write: &Write,
    ) -> Result<Written, StoreError> {
        match self.store.get(&memory.owner, &memory.id, memory.updated_at).await {
            Ok(old) if old.text() == memory.text() || !old.status.is_in_use() => Ok(Written::Whole),
            Ok(old) => {
                let new = Memory {
                    kind: memory.kind,
                    content: memory.content,
                    reply: memory.reply,
                    raw: memory.raw,
                    provenance: memory.provenance,
                    updated_at: memory.updated_at,
                    ..old
                };
                self.replace(new, passages, write).await.map(|(_, written)| written)
            }
            Err(StoreError::NotFound) => {
                self.create(memory, passages, write).await.map(|(_, written)| written)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a new memory.
    pub(super) async fn create(
        &self,
        memory: Memory,
        passages: Vec<String>,
        write: &Write,
    ) -> Result<(Memory, Written), StoreError> {
        let (vectors, written) = self.embed(passages).await;
        let stored = self.store.store(self.ending(memory), vectors, write).await?;
        self.bound(&stored, write).await?;
        self.metrics.stored(stored.memory_type.as_str());
        Ok((stored, written))
    }

    /// Writes a new version of a memory, as it was read but for its content.
    pub(super) async fn replace(
        &self,
        memory: Memory,
        passages: Vec<String>,
        write: &Write,
    ) -> Result<(Memory, Written), StoreError> {
        let (vectors, written) = self.embed(passages).await;
        // The owner shared other words.
        let memory = Memory { visibility: Visibility::Private, ..self.ending(memory) };
        let stored = self.store.update(memory, Some(vectors), write).await?;
        self.bound(&stored, write).await?;
        self.metrics.stored(stored.memory_type.as_str());
        Ok((stored, written))
    }

    async fn embed(&self, passages: Vec<String>) -> (Vec<Embedding>, Written) {
        match self.vectors(passages).await {
            Ok(vectors) => (vectors, Written::Whole),
            Err(error) => {
                self.metrics.failed("embedding");
                tracing::debug!(%error, "a memory is stored without vectors");
                (Vec::new(), Written::WithoutVectors)
            }
        }
    }

    async fn vectors(&self, passages: Vec<String>) -> Result<Vec<Embedding>, EmbedError> {
        Ok(self.in_space(self.embedder.embed_passages(passages).await?))
    }

    /// The vectors of one memory, in the embedder's space.
    pub(super) fn in_space(&self, vectors: Vec<Vector>) -> Vec<Embedding> {
        let space: Arc<str> = self.embedder.space().id().into();
        (0..)
            .zip(vectors)
            .map(|(part, values)| Embedding { space: space.clone(), part, values })
            .collect()
    }
}
