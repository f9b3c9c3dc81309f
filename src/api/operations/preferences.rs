//! Lists, sets and unsets a user's preferences, and lists and sets their wishes about every answer.

mod wishes;

use crate::api::{
    ApiError, Caller, DeletedView, NewPreference, PreferenceView, PreferencesRequest,
    PreferencesView, SetPreferenceRequest, SetPreferenceView, UnsetPreferenceRequest, WishView,
    operations::{Operations, not_empty, text_work::size, write},
};
use memgate_access::{Action, Subject};
use memgate_capture::{
    admit_name, may_become_memory, preference_memory, preferences_of, set_preference, standing_of,
};
use memgate_core::memory::{
    Memory, MemoryId, Owner, Preference, PreferenceKey, Source, Status, preference::in_force,
};

impl Operations {
    /// Lists the preferences and wishes in force, the newest first. For a project these are its own and those of no project.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the store is unavailable.
    pub async fn preferences(
        &self,
        caller: &Caller,
        PreferencesRequest { whose, scope }: PreferencesRequest,
    ) -> Result<PreferencesView, ApiError> {
        let (owner, now) = (caller.owner(&whose)?, self.clock.now());
        not_empty("project_id", scope.project_id.as_ref())?;
        let store = self.store.as_ref();
        let mut found = standing_of(store, &owner, None, &wishes::IN_USE, now).await?;
        if let Some(project) = &scope.project_id {
            found.extend(standing_of(store, &owner, Some(project), &wishes::IN_USE, now).await?);
        }
        let view = |it: memgate_core::memory::PreferenceInForce| {
            let memory = found.iter().find(|memory| memory.id == it.id)?;
            Some(PreferenceView::of(&it.preference, memory))
        };
        Ok(PreferencesView {
            preferences: in_force(found.clone()).into_iter().filter_map(view).collect(),
            wishes: scope
                .wishes
                .then(|| wishes::in_force(&found, now).into_iter().map(WishView::of).collect()),
        })
    }

    /// Sets a preference, or a wish about every answer.
    ///
    /// # Errors
    /// 400 for a value that the key cannot have and for a wish that may not stand in every context, 503 while the store is
    /// unavailable.
    pub async fn set_preference(
        &self,
        caller: &Caller,
        SetPreferenceRequest { whose, preference: new }: SetPreferenceRequest,
    ) -> Result<SetPreferenceView, ApiError> {
        let owner = caller.owner(&whose)?;
        not_empty("project_id", new.project_id.as_ref())?;
        let NewPreference { key, value, wish, project_id } = new;
        match (key, value, wish) {
            (Some(key), Some(value), None) => {
                let set = self.set_value(caller, owner, (key, &value), project_id).await?;
                Ok(SetPreferenceView::Preference(set))
            }
            (None, None, Some(wish)) => {
                let set = self.set_wish(caller, owner, &wish, project_id).await?;
                Ok(SetPreferenceView::Wish(set))
            }
            (_, _, Some(_)) => {
                Err(ApiError::invalid("wish", "must not be sent with key and value"))
            }
            (None, _, None) => Err(ApiError::invalid("key", "is required, or wish in its place")),
            (Some(_), None, None) => Err(ApiError::invalid("value", "is required")),
        }
    }

    /// Sets the value of a key; the values that it replaces are superseded.
    async fn set_value(
        &self,
        caller: &Caller,
        owner: Owner,
        (key, value): (PreferenceKey, &str),
        project_id: Option<String>,
    ) -> Result<PreferenceView, ApiError> {
        let preference =
            Preference::new(key, value).map_err(|cause| ApiError::invalid("value", cause))?;
        if key == PreferenceKey::Name && !may_become_memory(self.screener(), value) {
            return Err(ApiError::invalid("value", "must be a name"));
        }
        let (project, bytes) = (project_id.clone(), size(&project_id));
        let admit = move || project.map_or(Ok(()), |id| admit_name(&id));
        let admitted = self.texts.run(bytes, admit).await?;
        admitted.map_err(|cause| ApiError::invalid("project_id", cause))?;
        let now = self.clock.now();
        let (id, source) = (MemoryId::fresh(), Source::ExternalData);
        let mut memory = preference_memory(id, owner, preference.clone(), source, now);
        memory.project_id = project_id;
        let write = write("preference", caller);
        let stored = set_preference(self.store.as_ref(), memory, &write, now).await?;
        self.metrics.stored(stored.memory_type.as_str());
        self.recall.tool_loops().forget(&stored.owner);
        let subject = Subject::of(&stored.owner).target(&stored.id).count(1);
        self.record(caller, Action::MemoryCreate, subject).await;
        Ok(PreferenceView::of(&preference, &stored))
    }

    /// Deletes the preferences with a key, the superseded ones too, and the turns that stated them.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the store is unavailable.
    pub async fn unset_preference(
        &self,
        caller: &Caller,
        UnsetPreferenceRequest { whose, preference }: UnsetPreferenceRequest,
    ) -> Result<DeletedView, ApiError> {
        let (owner, now) = (caller.owner(&whose)?, self.clock.now());
        not_empty("project_id", preference.project_id.as_ref())?;
        let project = preference.project_id.as_deref();
        let mut found =
            preferences_of(self.store.as_ref(), &owner, project, Status::ALL, now).await?;
        found.retain(|it| it.preference().is_some_and(|it| it.key() == preference.key));
        if found.is_empty() {
            return Ok(DeletedView::of(0));
        }
        self.capture.forget_sources(&found).await?;
        let ids: Vec<MemoryId> = found.iter().map(|memory: &Memory| memory.id.clone()).collect();
        let deleted = self.store.forget_all(&owner, &ids, &write("unset", caller)).await?;
        self.forget_words(&owner).await?;
        self.record(caller, Action::MemoryErase, Subject::of(&owner).count(deleted)).await;
        Ok(DeletedView::of(deleted))
    }
}
