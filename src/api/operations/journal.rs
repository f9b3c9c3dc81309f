//! Lists jobs and sessions, and retries jobs.

use crate::api::{
    AllJobsRequest, ApiError, Caller, JobView, JobsRequest, JobsView, Paging, RetriedView,
    RetryAllRequest, SessionsRequest, SessionsView, Whose, WithId, cursor,
    operations::{Operations, page},
};
use memgate_access::{Action, Subject};
use memgate_capture::JobQuery;
use memgate_core::memory::Owner;

impl Operations {
    /// A page of a user's jobs, newest first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn jobs(&self, caller: &Caller, request: JobsRequest) -> Result<JobsView, ApiError> {
        self.some_jobs(Some(caller.owner(&request.whose)?), request.all).await
    }

    /// A page of all users' jobs, newest first, for operators.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn all_jobs(
        &self,
        _: &Caller,
        request: AllJobsRequest,
    ) -> Result<JobsView, ApiError> {
        self.some_jobs(None, request).await
    }

    async fn some_jobs(
        &self,
        owner: Option<Owner>,
        AllJobsRequest { filter, paging }: AllJobsRequest,
    ) -> Result<JobsView, ApiError> {
        let (before, limit) = before(&paging)?;
        // One more row shows whether there is a next page.
        let query = JobQuery { owner, state: filter.state, before, limit: limit + 1 };
        Ok(JobsView::of(self.capture.jobs(query).await?, limit))
    }

    /// Runs one of a user's jobs now, with all attempts available again.
    ///
    /// # Errors
    /// 404 when the user has no such job, 503 while the journal is unavailable.
    pub async fn retry_job(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<JobView, ApiError> {
        let owner = caller.owner(&whose)?;
        let Ok(id) = id.parse() else { return Err(ApiError::no_such("job")) };
        let job = self.capture.retry_job(&owner, id).await?;
        let Some(job) = job else { return Err(ApiError::no_such("job")) };
        let subject = Subject::of(&owner).target(format_args!("job:{id}")).count(1);
        self.record(caller, Action::JobRetry, subject).await;
        Ok(job.into())
    }

    /// Retries all dead jobs of a user.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn retry_jobs(&self, caller: &Caller, whose: Whose) -> Result<RetriedView, ApiError> {
        let owner = caller.owner(&whose)?;
        let retried = self.capture.retry_dead_jobs(Some(&owner)).await?;
        self.record(caller, Action::JobRetry, Subject::of(&owner).count(retried)).await;
        Ok(RetriedView { retried })
    }

    /// Retries the dead jobs of all users, for operators.
    ///
    /// # Errors
    /// 503 while the journal is unavailable.
    pub async fn retry_all_jobs(
        &self,
        caller: &Caller,
        RetryAllRequest {}: RetryAllRequest,
    ) -> Result<RetriedView, ApiError> {
        let retried = self.capture.retry_dead_jobs(None).await?;
        self.record(caller, Action::JobRetry, Subject::default().count(retried)).await;
        Ok(RetriedView { retried })
    }

    /// A page of a user's sessions, the latest started first.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn sessions(
        &self,
        caller: &Caller,
        request: SessionsRequest,
    ) -> Result<SessionsView, ApiError> {
        let owner = caller.owner(&request.whose)?;
        let (before, limit) = before(&request.paging)?;
        let sessions = self.capture.sessions(&owner, before, limit + 1).await?;
        Ok(SessionsView::of(sessions, limit))
    }
}

/// The row before which a page starts, and the page's size.
fn before(paging: &Paging) -> Result<(Option<i64>, usize), ApiError> {
    let before = paging.cursor.as_deref().map(cursor::decode_number).transpose()?;
    Ok((before, page(paging.limit)?))
}
