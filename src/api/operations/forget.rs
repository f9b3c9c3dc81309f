//! Deletion. The journal is cleaned first, because its pending turns could become memories again.

use std::collections::{HashMap, HashSet};

use crate::api::{
    ApiError, Caller, DeletedView, ForgetRequest, ForgettingView, ForgettingsView, UndoneView,
    Whose, WithId,
    operations::{Operations, not_empty, write},
};
use memgate_access::{Action, Subject};
use memgate_capture::Forget;
use memgate_core::memory::{
    Filter, ForgetScope, ListQuery, Memory, MemoryId, Owner, ScopeQuery, Status, StoreError,
};

/// Number of memories of a session examined at a time.
const PAGE: usize = 100;

impl Operations {
    /// Forgets one memory and the turn it was made of; for a turn memory or a statement of it, also
    /// everything else taken from that turn word for word.
    ///
    /// # Errors
    /// 404 when the user has no memory with this id.
    pub async fn forget(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<DeletedView, ApiError> {
        let owner = caller.owner(&whose)?;
        let id = MemoryId::from_outside(&id);
        let versions = match self.store.history(&owner, &id).await {
            Ok(versions) => versions,
            Err(StoreError::NotFound) => return Err(ApiError::no_such("memory")),
            Err(error) => return Err(error.into()),
        };
        self.capture.forget_sources(&versions).await?;
        let mut ids = self.of_same_words(&owner, &versions).await?;
        ids.insert(id.clone());
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        self.store.forget_all(&owner, &ids, &write("forgotten", caller)).await?;
        self.recall.forget(&owner);
        let subject = Subject::of(&owner).target(id).count(ids.len() as u64);
        self.record(caller, Action::MemoryErase, subject).await;
        // It existed: a summary may have been deleted together with its sources.
        Ok(DeletedView { deleted: 1 })
    }

    /// The memories that contain words of the same turns.
    async fn of_same_words(
        &self,
        owner: &Owner,
        versions: &[Memory],
    ) -> Result<HashSet<MemoryId>, StoreError> {
        let mut ids = HashSet::new();
        let mut turns: HashMap<String, HashSet<String>> = HashMap::new();
        for said in versions.iter().flat_map(Memory::occurrences) {
            let is_of_one_turn = said.is_of_one_turn();
            if let Some(session) = said.session.filter(|_| is_of_one_turn) {
                turns.entry(session).or_default().insert(said.turn);
            }
        }
        for (session, turns) in turns {
            let mut query = ListQuery {
                scope: ScopeQuery::of(owner.clone()),
                // Superseded memories contain the words too.
                filter: Some(Filter::And(vec![
                    Filter::Session(session),
                    Filter::Status(Status::ALL.to_vec()),
                ])),
                limit: PAGE,
                cursor: None,
                now: self.clock.now(),
            };
            loop {
                let page = self.store.list(&query).await?;
                for other in page.memories {
                    let turn = other.provenance.turn.as_ref();
                    let of_turn = turn.is_some_and(|turn| turns.contains(turn));
                    if of_turn && other.is_word_for_word() {
                        ids.insert(other.id);
                    }
                }
                match page.next {
                    Some(next) => query.cursor = Some(next),
                    None => break,
                }
            }
        }
        Ok(ids)
    }

    /// Lists what a user asked to be forgotten in messages and can still restore, the latest first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn forgettings(
        &self,
        caller: &Caller,
        whose: Whose,
    ) -> Result<ForgettingsView, ApiError> {
        let found = self.capture.forgettings(&caller.owner(&whose)?).await?;
        Ok(ForgettingsView { forgettings: found.into_iter().map(ForgettingView::from).collect() })
    }

    /// Restores what a user asked to be forgotten in a message.
    ///
    /// # Errors
    /// 404 when the user has no such request to forget, because it is erased, undone, or another
    /// user's; 503 while store or journal are unavailable.
    pub async fn undo_forgetting(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<UndoneView, ApiError> {
        let owner = caller.owner(&whose)?;
        let Ok(id) = id.parse() else { return Err(ApiError::no_such("forgetting")) };
        let Some(restored) = self.capture.undo_forgetting(&owner, id).await? else {
            return Err(ApiError::no_such("forgetting"));
        };
        let subject = Subject::of(&owner).target(format_args!("forgetting:{id}")).count(restored);
        self.record(caller, Action::ForgetUndo, subject).await;
        Ok(UndoneView { restored })
    }

    /// Forgets all memories of a user, or of one project, including turns in the journal.
    ///
    /// # Errors
    /// 400 for an invalid field; 503 while store or journal are unavailable: then nothing or only a
    /// part is forgotten, and the caller must repeat the request.
    pub async fn forget_scope(
        &self,
        caller: &Caller,
        request: ForgetRequest,
    ) -> Result<DeletedView, ApiError> {
        let owner = caller.owner(&request.whose)?;
        not_empty("project_id", request.scope.project_id.as_ref())?;
        let turns = match &request.scope.project_id {
            Some(project) => Forget::Project(project.clone()),
            None => Forget::Everything,
        };
        self.capture.forget_turns(&owner, turns).await?;
        let scope = ForgetScope { owner, project_id: request.scope.project_id.clone() };
        let deleted = self.store.forget_by_scope(&scope, &write("scope forgotten", caller)).await?;
        self.recall.forget(&scope.owner);
        let subject = Subject::of(&scope.owner).count(deleted);
        self.record(caller, Action::ScopeErase, subject).await;
        Ok(DeletedView { deleted })
    }
}
