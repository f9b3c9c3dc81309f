//! Deletion of many memories: all of a user or a project, or those that meet a filter.

use jiff::Timestamp;

use crate::api::{
    ApiError, Caller, DeletedView, ForgetRequest, ListFilter,
    operations::{Operations, write},
};
use memgate_access::{Action, Subject};
use memgate_capture::Forget;
use memgate_core::memory::{Filter, ForgetScope, ListQuery, Owner, ScopeQuery, Status, StoreError};

/// Number of memories erased at a time.
const PAGE: usize = 100;
/// The time of asking of a deletion: one at which nothing has expired, because what has expired is deleted, too.
const BEFORE_ALL: Timestamp = Timestamp::UNIX_EPOCH;

impl Operations {
    /// Forgets memories of a user. Without a filter, or of one project, these are all memories, and turns in the journal
    /// too. A filter covers every status unless it names some.
    ///
    /// # Errors
    /// 400 for an invalid field; 503 while store or journal are unavailable: then nothing or only a
    /// part is forgotten, and the caller must repeat the request.
    pub async fn forget_scope(
        &self,
        caller: &Caller,
        ForgetRequest { whose, filter, options }: ForgetRequest,
    ) -> Result<DeletedView, ApiError> {
        let owner = caller.owner(&whose)?;
        let scope = whole_scope(&filter);
        let filter = of_every_status(self.conditions(filter)?);
        if options.dry_run {
            let (scope, space) = (ScopeQuery::of(owner), self.embedder.space().id());
            let counts = self.store.count(&scope, Some(&filter), &space, BEFORE_ALL).await?;
            return Ok(DeletedView { deleted: counts.total, dry_run: true });
        }
        let deleted = match scope {
            Some(project_id) => self.erase_scope(&owner, project_id, caller).await?,
            None => {
                // It goes on to its end when the client goes away: what is erased is in the audit log.
                let (operations, caller) = (self.clone(), caller.clone());
                let erasing = async move { operations.erase_all(&owner, filter, &caller).await };
                tokio::spawn(erasing).await.map_err(|_| ApiError::interrupted())??
            }
        };
        Ok(DeletedView::of(deleted))
    }

    async fn erase_scope(
        &self,
        owner: &Owner,
        project_id: Option<String>,
        caller: &Caller,
    ) -> Result<u64, ApiError> {
        let turns = match &project_id {
            Some(project) => Forget::Project(project.clone()),
            None => Forget::Everything,
        };
        self.capture.forget_turns(owner, turns).await?;
        let scope = ForgetScope { owner: owner.clone(), project_id };
        let deleted = self.store.forget_by_scope(&scope, &write("scope forgotten", caller)).await?;
        if scope.project_id.is_some() {
            self.forget_words(owner).await?;
        } else {
            self.recall.erase(owner);
            self.capture.trail().erase(owner).await?;
        }
        self.record(caller, Action::ScopeErase, Subject::of(owner).count(deleted)).await;
        Ok(deleted)
    }

    /// Erases the memories that meet a filter, a page at a time, each with its entry in the audit log. Returns how many met
    /// the filter.
    async fn erase_all(
        &self,
        owner: &Owner,
        filter: Filter,
        caller: &Caller,
    ) -> Result<u64, ApiError> {
        let mut query = ListQuery {
            scope: ScopeQuery::of(owner.clone()),
            filter: Some(filter),
            limit: PAGE,
            cursor: None,
            now: BEFORE_ALL,
        };
        let mut deleted = 0;
        loop {
            let page = self.store.list(&query).await?;
            let mut versions = Vec::with_capacity(page.memories.len());
            for memory in &page.memories {
                match self.store.history(owner, &memory.id).await {
                    Ok(all) => versions.extend(all),
                    // Erased meanwhile.
                    Err(StoreError::NotFound) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let ids: Vec<_> = page.memories.into_iter().map(|memory| memory.id).collect();
            deleted += ids.len() as u64;
            if !ids.is_empty() {
                let erased = self.erase(owner, ids, &versions, caller).await?;
                self.record(caller, Action::MemoryErase, Subject::of(owner).count(erased)).await;
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(deleted),
            }
        }
    }
}

/// The project whose memories are all meant, or all of the user's; `None` if only some are meant.
fn whole_scope(filter: &ListFilter) -> Option<Option<String>> {
    match filter {
        ListFilter { project_id, memory_type: None, status: None, entity: None, filter: None } => {
            Some(project_id.clone())
        }
        _ => None,
    }
}

/// The condition, of every status unless it mentions some.
fn of_every_status(filter: Option<Filter>) -> Filter {
    let conditions = match filter {
        Some(filter) if filter.mentions_status() => return filter,
        filter => filter.into_iter().chain([Filter::Status(Status::ALL.to_vec())]),
    };
    Filter::And(conditions.collect())
}
