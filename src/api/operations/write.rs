//! Creates and changes memories. Both pass the screening.

mod idempotent;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::api::{
    ApiError, Caller, ChangeRequest, CreateRequest, IdempotencyKey, IfMatch, MemoryView,
    PatchRequest, Tagged, WithHeader, WithId,
    operations::{Operations, entities, not_empty, orders_to_model, share, write},
};
use memgate_access::{Action, Subject};
use memgate_capture::{
    Author, admit_memory, admit_text, may_become_memory, screened_value, set_preference,
};
use memgate_core::memory::{
    Embedding, Memory, MemoryId, MemoryKind, MemoryType, Preference, Relation, Source, Status,
    StoreError,
};
use memgate_screening::{MAX_MESSAGE_BYTES, Screener};
use memgate_text::preferences::only_preferences_in;

/// Maximum number of tags.
const MAX_TAGS: usize = 64;
/// Maximum length of a tag, in bytes.
const MAX_TAG: usize = 256;
/// Maximum size of the metadata as JSON, in bytes.
const MAX_METADATA: usize = 16 * 1024;
/// Maximum number of attempts of a change without a version that conflicts with others.
const TRIES: usize = 3;

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
        let may_state = memory.tags.is_empty() && memory.kind != MemoryKind::Quotation;
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
                    // The same request at the same time was faster.
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

    /// Changes a memory; the old version stays in its history.
    ///
    /// # Errors
    /// 404 when the user has no memory with this id, 409 when `version` is given and is not the
    /// current one, 412 when `If-Match` names another version.
    pub async fn patch(
        &self,
        caller: &Caller,
        WithHeader { header, request: WithId { id, request: ChangeRequest { whose, mut change } } }: WithHeader<
            IfMatch,
            WithId<ChangeRequest>,
        >,
    ) -> Result<Tagged<MemoryView>, ApiError> {
        if let Some(IfMatch(version)) = header {
            if change.version.is_some_and(|other| other != version) {
                return Err(ApiError::invalid("version", "must be the one of If-Match"));
            }
            change.version = Some(version);
        }
        let owner = caller.owner(&whose)?;
        let id = MemoryId::from_outside(&id);
        let change = self.checked(change)?;
        let vectors = match &change.content {
            Some(content) => Some(self.vectors(content).await),
            None => None,
        };
        let write = write("changed", caller);
        for attempt in 1.. {
            let mut memory = self.store.get(&owner, &id, self.clock.now()).await?;
            memory.version = change.version.unwrap_or(memory.version);
            apply(&change, &mut memory, self.screener(), self.clock.now());
            match self.store.update(memory, vectors.clone(), &write).await {
                // The caller named no version, so the change applies to the newer one too.
                Err(StoreError::Conflict { .. }) if change.version.is_none() && attempt < TRIES => {
                }
                Err(StoreError::Conflict { found, .. }) if header.is_some() => {
                    return Err(ApiError::not_the_version(found));
                }
                Err(error) => return Err(error.into()),
                Ok(stored) => {
                    self.metrics.stored(stored.memory_type.as_str());
                    self.owe_vectors(vectors.is_none_or(|vectors| !vectors.is_empty())).await;
                    let subject = Subject::of(&owner).target(&stored.id).count(1);
                    self.record(caller, Action::MemoryChange, subject).await;
                    return Ok(stored.into());
                }
            }
        }
        Err(ApiError::no_such("memory"))
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

    fn checked(&self, mut change: PatchRequest) -> Result<PatchRequest, ApiError> {
        self.known_types("type", &change.memory_type)?;
        not_empty("project_id", change.project_id.as_ref().and_then(Option::as_ref))?;
        share("importance", change.importance)?;
        share("confidence", change.confidence.flatten())?;
        if change.status == Some(Status::Forgotten) {
            let cause = "cannot be set; use DELETE to forget a memory";
            return Err(ApiError::invalid("status", cause));
        }
        let screener = self.screener();
        change.content = change.content.map(|text| content(screener, text)).transpose()?;
        change.tags = change.tags.map(|given| tags(screener, given)).transpose()?;
        change.metadata = change.metadata.map(|given| metadata(screener, given)).transpose()?;
        change.mentions =
            change.mentions.map(|given| entities::mentions(screener, given)).transpose()?;
        change.entity_relations = change
            .entity_relations
            .map(|given| entities::relations(screener, given))
            .transpose()?;
        Ok(change)
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

fn apply(change: &PatchRequest, memory: &mut Memory, screener: Screener, now: Timestamp) {
    memory.updated_at = now;
    if let Some(content) = &change.content {
        if memory.preference().is_some() {
            memory.set_preference(stated(screener, content));
        }
        memory.set_text(content);
        memory.set_may_have_changed(None);
        entities::drop_unnamed(memory);
    }
    if let Some(name) = &change.memory_type {
        memory.memory_type = MemoryType::new(name);
    }
    if let Some(project_id) = &change.project_id {
        memory.project_id.clone_from(project_id);
    }
    memory.status = change.status.unwrap_or(memory.status);
    if memory.status.is_in_use() {
        memory.relations.retain(|link| link.kind != Relation::SUPERSEDED_BY);
    }
    memory.importance = change.importance.unwrap_or(memory.importance);
    memory.confidence = change.confidence.unwrap_or(memory.confidence);
    if let Some(tags) = &change.tags {
        memory.tags.clone_from(tags);
        memory.keep_preference_tag();
    }
    if let Some(metadata) = &change.metadata {
        // Not the caller's to say.
        let doubt = memory.may_have_changed();
        memory.metadata.clone_from(metadata);
        memory.set_may_have_changed(doubt);
    }
    if let Some(mentions) = &change.mentions {
        memory.mentions.clone_from(mentions);
    }
    if let Some(relations) = &change.entity_relations {
        memory.entity_relations.clone_from(relations);
    }
    memory.valid_from = change.valid_from.unwrap_or(memory.valid_from);
    memory.valid_until = change.valid_until.unwrap_or(memory.valid_until);
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
