//! Forgetting. The journal goes first: what it still holds could become a memory again.

use super::{Operations, not_empty, write};
use crate::{
    api::{ApiError, DeletedView, ForgetRequest, Whose, requests::owner},
    capture::Forget,
    memory::{ForgetScope, MemoryId, StoreError},
};

impl Operations {
    /// Forgets one memory, and what it was made of.
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
            Ok(versions) => self.capture.forget_sources(&versions).await?,
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
