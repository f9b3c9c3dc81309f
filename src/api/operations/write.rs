//! Creates memories. New and changed contents pass the screening.

mod admit;
mod change;
mod idempotent;
pub(super) mod source;
pub(super) mod standing;
pub(super) mod visibility;

use std::sync::Arc;

use self::admit::{Beside, fits};
use crate::api::{
    ApiError, Caller, CreateRequest, IdempotencyKey, MemoryView, Tagged, WithHeader,
    operations::{Operations, not_empty, orders_to_model, share, text_work::size, write},
};
use memgate_access::{Action, Subject};
use memgate_capture::set_preference;
use memgate_core::memory::{Embedding, Memory, MemoryId, MemoryType, Space, StoreError};
use memgate_screening::Screener;

impl Operations {
    /// Stores a memory.
    ///
    /// # Errors
    /// 400 for an invalid field, 403 for a visibility or a source that is not the caller's to say, 422 when the idempotency
    /// key was sent with another memory, 503 while the store is unavailable.
    pub async fn create(
        &self,
        caller: &Caller,
        WithHeader { header: key, request: CreateRequest { whose, memory: request } }: WithHeader<
            IdempotencyKey,
            CreateRequest,
        >,
    ) -> Result<Tagged<MemoryView>, ApiError> {
        let owner = caller.owner(&whose)?;
        not_empty("project_id", request.project_id.as_ref())?;
        not_empty("agent_id", request.agent_id.as_ref())?;
        not_empty("session_id", request.session_id.as_ref())?;
        self.known_types("type", &request.memory_type)?;
        share("importance", request.importance)?;
        share("confidence", request.confidence)?;
        let (screener, bytes) = (self.screener(), size(&request));
        let memory_type =
            MemoryType::new(request.memory_type.as_deref().unwrap_or(MemoryType::SEMANTIC));
        let mut memory = Memory::new(
            MemoryId::fresh(),
            owner,
            memory_type,
            fits(request.content)?,
            source::checked(caller, request.source)?,
            self.clock.now(),
        );
        let orders = orders_to_model(request.admit_quoted);
        memory.project_id = request.project_id;
        memory.agent_id = request.agent_id;
        memory.session_id = request.session_id;
        memory.visibility = visibility::checked(request.visibility, &memory.owner)?;
        visibility::permitted(caller, &self.config.get(), None, &memory)?;
        if let Space::Agent(agent) = memory.owner.space() {
            memory.agent_id = Some(agent.to_owned());
        }
        memory.importance = request.importance.unwrap_or(Memory::DEFAULT_IMPORTANCE);
        memory.confidence = request.confidence;
        memory.valid_from = request.valid_from;
        memory.valid_until = request.valid_until;
        let beside = Beside {
            tags: request.tags,
            metadata: request.metadata,
            mentions: request.mentions,
            entity_relations: request.entity_relations,
        };
        let admit = move || admit::created(screener, memory, orders, beside);
        let (mut memory, stated) = self.texts.run(bytes, admit).await??;
        let (write, now) = (write("created", caller), self.clock.now());
        if let Some(key) = &key {
            if let Some(stored) = self.stored_before(key, &memory, now).await? {
                return Ok(stored.into());
            }
            memory.id = idempotent::id(&memory.owner, key, now);
        }
        let (stored, whole) = match stated {
            Some(preference) => {
                memory.set_preference(Some(preference));
                (set_preference(self.store.as_ref(), memory, &write, now).await?, false)
            }
            None => {
                let vectors = self.vectors(memory.passages()).await;
                let whole = !vectors.is_empty();
                let stored = self.store.store(memory.clone(), vectors, &write).await;
                if let (Err(StoreError::Exists), Some(key)) = (&stored, &key)
                    && let Some(stored) = self.stored_before(key, &memory, now).await?
                {
                    // An equal request at this time was faster.
                    return Ok(stored.into());
                }
                (stored?, whole)
            }
        };
        self.metrics.stored(stored.memory_type.as_str());
        self.owe_vectors(whole).await;
        let subject = Subject::of(&stored.owner).target(&stored.id).count(1);
        self.record(caller, Action::MemoryCreate, subject).await;
        Ok(stored.into())
    }

    /// A memory without all its vectors is embedded later by a job. Missing vectors are also
    /// searched for regularly, so a failure here must not fail the request.
    pub(super) async fn owe_vectors(&self, whole: bool) {
        if !whole && let Err(error) = self.capture.owe_vectors().await {
            tracing::debug!(%error, "missing vectors will be found later");
        }
    }

    pub(super) fn screener(&self) -> Screener {
        Screener::new(self.config.get().memory.screening)
    }

    /// Vectors of a memory's passages; none if the embedder fails: then the memory is found by words and
    /// embedded later.
    pub(super) async fn vectors(&self, passages: Vec<String>) -> Vec<Embedding> {
        match self.embedder.embed_passages(passages).await {
            Ok(vectors) => {
                let space: Arc<str> = self.embedder.space().id().into();
                (0..)
                    .zip(vectors)
                    .map(|(part, values)| Embedding { space: space.clone(), part, values })
                    .collect()
            }
            Err(error) => {
                self.metrics.failed("embedding");
                tracing::warn!(%error, "a memory was stored without a vector");
                Vec::new()
            }
        }
    }
}
