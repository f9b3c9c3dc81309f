//! Changes a memory.

use jiff::Timestamp;

use crate::api::{
    ApiError, Caller, ChangeRequest, IfMatch, MemoryView, PatchRequest, Tagged, WithHeader, WithId,
    operations::{
        Operations, entities, not_empty, share,
        text_work::size,
        write,
        write::{admit, standing, visibility},
    },
};
use memgate_access::{Action, Subject};
use memgate_core::memory::{
    Memory, MemoryId, MemoryType, Preference, Relation, Status, StoreError, Visibility,
};

/// Maximum number of attempts of a change without a version that conflicts with others.
const TRIES: usize = 3;

impl Operations {
    /// Changes a memory; the old version stays in its history.
    ///
    /// # Errors
    /// 403 when the caller may not share it, 404 when the user has no memory with this id, 409 when `version` is given and is not the
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
        let (mut change, stated) = self.checked(change).await?;
        if change.visibility.is_some() {
            change.visibility = Some(visibility::checked(change.visibility, &owner)?);
        }
        let write = write("changed", caller);
        for attempt in 1.. {
            let mut memory = self.store.get(&owner, &id, self.clock.now()).await?;
            memory.version = change.version.unwrap_or(memory.version);
            let before = memory.clone();
            if before.is_wish_for_every_answer()
                && let Some(content) = &change.content
            {
                standing::checked("content", content)?;
            }
            apply(&change, stated.as_ref(), &mut memory, self.clock.now());
            visibility::permitted(caller, &self.config.get(), Some(&before), &memory)?;
            // Vectors that came with an import may say what the words do not; nobody else is to find the memory by them.
            let is_new_to_others = before.visibility == Visibility::Private
                && memory.visibility != Visibility::Private;
            let vectors = match is_new_to_others || before.passages() != memory.passages() {
                true => Some(self.vectors(memory.passages()).await),
                false => None,
            };
            let whole = vectors.as_ref().is_none_or(|vectors| !vectors.is_empty());
            match self.store.update(memory, vectors, &write).await {
                // The caller named no version, so the change applies to the newer one too.
                Err(StoreError::Conflict { .. }) if change.version.is_none() && attempt < TRIES => {
                }
                Err(StoreError::Conflict { found, .. }) if header.is_some() => {
                    return Err(ApiError::not_the_version(found));
                }
                Err(error) => return Err(error.into()),
                Ok(stored) => {
                    self.metrics.stored(stored.memory_type.as_str());
                    if before.content != stored.content
                        && let Err(error) = self.capture.corrected(&before, &stored, &write).await
                    {
                        tracing::warn!(%error, "turns may still be presented that say what was corrected");
                    }
                    self.owe_vectors(whole).await;
                    let subject = Subject::of(&owner).target(&stored.id).count(1);
                    self.record(caller, Action::MemoryChange, subject).await;
                    return Ok(stored.into());
                }
            }
        }
        Err(ApiError::no_such("memory"))
    }

    async fn checked(
        &self,
        change: PatchRequest,
    ) -> Result<(PatchRequest, Option<Preference>), ApiError> {
        self.known_types("type", &change.memory_type)?;
        not_empty("project_id", change.project_id.as_ref().and_then(Option::as_ref))?;
        share("importance", change.importance)?;
        share("confidence", change.confidence.flatten())?;
        if change.status == Some(Status::Forgotten) {
            let cause = "cannot be set; use DELETE to forget a memory";
            return Err(ApiError::invalid("status", cause));
        }
        let (screener, bytes) = (self.screener(), size(&change));
        self.texts.run(bytes, move || admit::changed(screener, change)).await?
    }
}

/// `stated`: the preference that the new content states.
fn apply(change: &PatchRequest, stated: Option<&Preference>, memory: &mut Memory, now: Timestamp) {
    memory.updated_at = now;
    if let Some(content) = &change.content {
        if memory.preference().is_some() {
            memory.set_preference(stated.cloned());
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
    if let Some(visibility) = &change.visibility {
        memory.visibility.clone_from(visibility);
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
