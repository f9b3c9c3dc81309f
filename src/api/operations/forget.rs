//! Deletion. The journal is cleaned first, because its pending turns could become memories again.

mod by_filter;

use std::collections::{HashMap, HashSet};

use crate::api::{
    ApiError, Caller, DeletedView, ForgettingView, ForgettingsView, UndoneView, Whose, WithId,
    operations::{Operations, write},
};
use memgate_access::{Action, Subject};
use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, Owner, ScopeQuery, Status, StoreError,
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
            // Its turn and what else was taken from that cannot be told; the memory itself can go.
            Err(StoreError::Unreadable(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let erased = self.erase(&owner, vec![id.clone()], &versions, caller).await?;
        let subject = Subject::of(&owner).target(id).count(erased);
        self.record(caller, Action::MemoryErase, subject).await;
        // It existed: a summary may have been deleted together with its sources.
        Ok(DeletedView::of(1))
    }

    /// Erases memories, given all their versions, and what they were made of. Returns how many memories were erased, those
    /// that contain words of the same turns included.
    async fn erase(
        &self,
        owner: &Owner,
        ids: Vec<MemoryId>,
        versions: &[Memory],
        caller: &Caller,
    ) -> Result<u64, ApiError> {
        self.capture.forget_sources(versions).await?;
        let mut all = self.of_same_words(owner, versions).await?;
        all.extend(ids);
        let all: Vec<MemoryId> = all.into_iter().collect();
        self.store.forget_all(owner, &all, &write("forgotten", caller)).await?;
        self.forget_words(owner).await?;
        Ok(all.len() as u64)
    }

    /// Drops the words of a user, who forgets something, from contexts of open tool loops and from the trail.
    pub(super) async fn forget_words(&self, owner: &Owner) -> Result<(), ApiError> {
        self.recall.forget(owner);
        Ok(self.capture.trail().drop_words(owner).await?)
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
        let mut found = self.capture.forgettings(&caller.owner(&whose)?).await?;
        // A request that found nothing has nothing to restore.
        found.retain(|forgetting| !forgetting.memories.is_empty());
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
}
