//! Lists jobs and sessions, and retries jobs.

use crate::api::{
    ApiError, JobView, JobsView, RetriedView, SessionsView, cursor,
    operations::{Operations, page},
    read::requests::{AllJobsRequest, JobsRequest, SessionsRequest, Whose, owner},
};
use memgate_capture::{JobQuery, JobStanding};
use memgate_core::memory::Owner;

impl Operations {
    /// A page of a user's jobs, newest first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn jobs(&self, request: &JobsRequest) -> Result<JobsView, ApiError> {
        let owner = owner(&request.user_id, request.tenant_id.as_deref())?;
        self.some_jobs(Some(owner), request.state, request.limit, request.cursor.as_deref()).await
    }

    /// A page of all users' jobs, newest first, for operators.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn all_jobs(&self, request: &AllJobsRequest) -> Result<JobsView, ApiError> {
        self.some_jobs(None, request.state, request.limit, request.cursor.as_deref()).await
    }

    async fn some_jobs(
        &self,
        owner: Option<Owner>,
        state: Option<JobStanding>,
        limit: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<JobsView, ApiError> {
        let limit = page(limit)?;
        let before = cursor.map(cursor::decode_number).transpose()?;
        // One more row shows whether there is a next page.
        let query = JobQuery { owner, state, before, limit: limit + 1 };
        Ok(JobsView::of(self.capture.jobs(query).await?, limit))
    }

    /// Runs one of a user's jobs now, with all attempts available again.
    ///
    /// # Errors
    /// 404 when the user has no such job, 503 while the journal is unavailable.
    pub async fn retry_job(&self, id: &str, whose: &Whose) -> Result<JobView, ApiError> {
        let owner = whose.owner()?;
        let Ok(id) = id.parse() else { return Err(ApiError::no_such("job")) };
        let job = self.capture.retry_job(&owner, id).await?;
        job.map(JobView::from).ok_or_else(|| ApiError::no_such("job"))
    }

    /// Retries all dead jobs of a user.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn retry_jobs(&self, whose: &Whose) -> Result<RetriedView, ApiError> {
        let retried = self.capture.retry_dead_jobs(Some(&whose.owner()?)).await?;
        Ok(RetriedView { retried })
    }

    /// Retries the dead jobs of all users, for operators.
    ///
    /// # Errors
    /// 503 while the journal is unavailable.
    pub async fn retry_all_jobs(&self) -> Result<RetriedView, ApiError> {
        Ok(RetriedView { retried: self.capture.retry_dead_jobs(None).await? })
    }

    /// A page of a user's sessions, the latest started first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn sessions(&self, request: &SessionsRequest) -> Result<SessionsView, ApiError> {
        let owner = owner(&request.user_id, request.tenant_id.as_deref())?;
        let limit = page(request.limit)?;
        let before = request.cursor.as_deref().map(cursor::decode_number).transpose()?;
        let sessions = self.capture.sessions(&owner, before, limit + 1).await?;
        Ok(SessionsView::of(sessions, limit))
    }
}
