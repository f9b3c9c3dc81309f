//! Creates memories. New and changed contents pass the screening.

mod change;
mod idempotent;
pub(super) mod visibility;

use serde_json::{Map, Value};

use crate::api::{
    ApiError, Caller, CreateRequest, IdempotencyKey, MemoryView, Tagged, WithHeader,
    operations::{Operations, entities, not_empty, orders_to_model, share, write},
};
use memgate_access::{Action, Subject};
use memgate_capture::{
    Author, admit_memory, admit_text, may_become_memory, screened_value, set_preference,
};
use memgate_core::memory::{
    Embedding, Memory, MemoryId, MemoryKind, MemoryType, Preference, Source, Space, StoreError,
};
use memgate_screening::{MAX_MESSAGE_BYTES, Screener};
use memgate_text::preferences::only_preferences_in;

/// Maximum number of tags.
const MAX_TAGS: usize = 64;
/// Maximum length of a tag, in bytes.
const MAX_TAG: usize = 256;
/// Maximum size of the metadata as JSON, in bytes.
const MAX_METADATA: usize = 16 * 1024;

impl Operations {
    /// Stores a memory.
    ///
    /// # Errors
    /// 400 for an invalid field, 422 when the idempotency key was sent with another memory, 503 while the store is
    /// unavailable.
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
        let screener = self.screener();
        let memory_type =
            MemoryType::new(request.memory_type.as_deref().unwrap_or(MemoryType::SEMANTIC));
        let mut memory = Memory::new(
            MemoryId::fresh(),
            owner,
            memory_type,
            fits(request.content)?,
            request.source.unwrap_or(Source::ExternalData),
            self.clock.now(),
        );
        let orders = orders_to_model(request.admit_quoted);
        admit_memory(screener, &mut memory, MAX_MESSAGE_BYTES, orders)
            .map_err(|why| ApiError::invalid(why.field(), why.cause()))?;
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
        memory.tags = tags(screener, request.tags)?;
        memory.metadata = metadata(screener, request.metadata)?;
        memory.set_may_have_changed(None);
        memory.mentions = entities::mentions(screener, request.mentions)?;
        memory.entity_relations = entities::relations(screener, request.entity_relations)?;
        memory.valid_from = request.valid_from;
        memory.valid_until = request.valid_until;
        let (write, now) = (write("created", caller), self.clock.now());
        if let Some(key) = &key {
            if let Some(stored) = self.stored_before(key, &memory, now).await? {
                return Ok(stored.into());
            }
            memory.id = idempotent::id(&memory.owner, key, now);
        }
        let may_state = memory.tags.is_empty()
            && memory.kind != MemoryKind::Quotation
            && memory.owner.user().is_some();
        let stated = may_state.then(|| stated(screener, &memory.content)).flatten();
        let (stored, whole) = match stated {
            Some(preference) => {
                memory.set_preference(Some(preference));
                (set_preference(self.store.as_ref(), memory, &write, now).await?, false)
            }
            None => {
                let vectors = self.vectors(&memory.content).await;
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
    async fn owe_vectors(&self, whole: bool) {
        if !whole && let Err(error) = self.capture.owe_vectors().await {
            tracing::debug!(%error, "missing vectors will be found later");
        }
    }

    pub(super) fn screener(&self) -> Screener {
        Screener::new(self.config.get().memory.screening)
    }

    /// Vectors of a content; none if the embedder fails: then the memory is found by words and
    /// embedded later.
    async fn vectors(&self, content: &str) -> Vec<Embedding> {
        match self.embedder.embed_passages(vec![content.to_owned()]).await {
            Ok(vectors) => {
                let space = self.embedder.space().id().into();
                vectors
                    .into_iter()
                    .map(|values| Embedding {
                        space: std::sync::Arc::clone(&space),
                        part: 0,
                        values,
                    })
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

/// The preference that a content states, if it states one and nothing else.
fn stated(screener: Screener, content: &str) -> Option<Preference> {
    let mut stated = only_preferences_in(content);
    let preference = stated.pop().filter(|_| stated.is_empty());
    preference.filter(|_| may_become_memory(screener, content))
}

/// Checks the length of a content.
fn fits(text: String) -> Result<String, ApiError> {
    if text.len() > MAX_MESSAGE_BYTES {
        let cause = format!("must have at most {MAX_MESSAGE_BYTES} bytes of UTF-8");
        return Err(ApiError::invalid("content", cause));
    }
    Ok(text)
}

/// Checks and screens a new content.
fn content(screener: Screener, text: String) -> Result<String, ApiError> {
    match admit_text(screener, &fits(text)?, MAX_MESSAGE_BYTES, Author::Caller) {
        Err(refusal) => Err(ApiError::invalid("content", refusal.cause())),
        Ok(text) if text.trim().is_empty() => {
            Err(ApiError::invalid("content", "must not be empty"))
        }
        Ok(text) => Ok(text),
    }
}

fn tags(screener: Screener, tags: Vec<String>) -> Result<Vec<String>, ApiError> {
    if tags.len() > MAX_TAGS || tags.iter().any(|tag| tag.is_empty() || tag.len() > MAX_TAG) {
        let cause = format!("must be at most {MAX_TAGS} texts of 1 to {MAX_TAG} bytes");
        return Err(ApiError::invalid("tags", cause));
    }
    Ok(tags.iter().map(|tag| screener.screen(tag, MAX_TAG).text).collect())
}

fn metadata(
    screener: Screener,
    members: Map<String, Value>,
) -> Result<Map<String, Value>, ApiError> {
    let size = serde_json::to_string(&members).map_or(usize::MAX, |text| text.len());
    if size > MAX_METADATA {
        let cause = format!("must have at most {MAX_METADATA} bytes as JSON");
        return Err(ApiError::invalid("metadata", cause));
    }
    Ok(members
        .into_iter()
        .map(|(name, value)| (name, screened_value(screener, value, MAX_METADATA)))
        .collect())
}
