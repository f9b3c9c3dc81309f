//! Forgetting. The journal goes first: what it still holds could become a memory again.

use jiff::Timestamp;

use super::{Operations, not_empty, write};
use crate::{
    api::{ApiError, DeletedView, ForgetRequest, Whose, requests::owner},
    capture::{Forget, is_word_for_word},
    memory::{Filter, ForgetScope, ListQuery, Memory, MemoryId, ScopeQuery, Status, StoreError},
};

/// Memories of a session that are looked at in one go.
const PAGE: usize = 100;

impl Operations {
    /// Forgets one memory and what it was made of; of a turn's memory or of a statement in it, all
    /// that was taken from that turn word for word.
    ///
    /// # Errors
    /// 404 when the user has none of this id.
    pub async fn forget(
        &self,
        id: &str,
        whose: &Whose,
        request_id: Option<String>,
    ) -> Result<DeletedView, ApiError> {
        let owner = whose.owner()?;
        let id = MemoryId::from_outside(id);
        match self.store.history(&owner, &id).await {
            Ok(versions) => {
                self.capture.forget_sources(&versions).await?;
                for version in &versions {
                    self.forget_same_words(version, request_id.as_ref()).await?;
                }
            }
            Err(StoreError::NotFound) => return Err(ApiError::no_such("memory")),
            Err(error) => return Err(error.into()),
        }
        let deleted = self.store.forget(&owner, &id, &write("forgotten", request_id)).await?;
        self.recall.held().forget(&owner);
        match deleted {
            0 => Err(ApiError::no_such("memory")),
            deleted => Ok(DeletedView { deleted }),
        }
    }

    /// Forgets the other memories that hold words of the turn which this one was taken from.
    async fn forget_same_words(
        &self,
        memory: &Memory,
        request_id: Option<&String>,
    ) -> Result<(), StoreError> {
        let (Some(turn), Some(session)) = (&memory.provenance.turn, &memory.session_id) else {
            return Ok(());
        };
        if !is_word_for_word(memory) {
            return Ok(());
        }
        let mut query = ListQuery {
            scope: ScopeQuery::of(memory.owner.clone()),
            // What is superseded holds the words, too.
            filter: Some(Filter::And(vec![
                Filter::Session(session.clone()),
                Filter::Status(Status::ALL.to_vec()),
            ])),
            limit: PAGE,
            cursor: None,
            now: Timestamp::now(),
        };
        loop {
            let page = self.store.list(&query).await?;
            for other in page.memories {
                let of_turn = other.provenance.turn.as_ref() == Some(turn);
                if of_turn && other.id != memory.id && is_word_for_word(&other) {
                    let write = write("forgotten", request_id.cloned());
                    self.store.forget(&other.owner, &other.id, &write).await?;
                }
            }
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Forgets everything of a user, or of one of their projects, turns in the journal included.
    ///
    /// # Errors
    /// 400 for a bad field, 503 while store or journal do not work: then nothing, or only a part,
    /// is forgotten, and the caller must ask again.
    pub async fn forget_scope(
        &self,
        request: &ForgetRequest,
        request_id: Option<String>,
    ) -> Result<DeletedView, ApiError> {
        let owner = owner(&request.user_id, request.tenant_id.as_deref())?;
        not_empty("project_id", request.project_id.as_ref())?;
        let turns = match &request.project_id {
            Some(project) => Forget::Project(project.clone()),
            None => Forget::Everything,
        };
        self.capture.forget_turns(&owner, turns).await?;
        let scope = ForgetScope { owner, project_id: request.project_id.clone() };
        let deleted =
            self.store.forget_by_scope(&scope, &write("scope forgotten", request_id)).await?;
        self.recall.held().forget(&scope.owner);
        Ok(DeletedView { deleted })
    }
}
