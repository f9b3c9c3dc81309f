//! Lists jobs, sessions and their turns, and retries jobs.

use std::collections::HashSet;

use crate::api::{
    AllJobsRequest, ApiError, Caller, JobView, JobsRequest, JobsView, Paging, RetriedView,
    RetryAllRequest, SessionTurnsView, SessionsRequest, SessionsView, Whose, WithId, cursor,
    operations::{Operations, page},
};
use memgate_access::{Action, Subject};
use memgate_capture::{JobQuery, TurnRow};
use memgate_core::memory::{Filter, ListQuery, Memory, Owner, ScopeQuery, Status};

/// Maximum number of a session's memories that are assigned to its turns.
const LEARNED: usize = 1_000;

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

    /// A page of a session's turns, the latest first, each with what was learned from it.
    ///
    /// # Errors
    /// 404 when the user has no such session, 503 while journal or store are unavailable.
    pub async fn session_turns(
        &self,
        caller: &Caller,
        WithId { id, request }: WithId<SessionsRequest>,
    ) -> Result<SessionTurnsView, ApiError> {
        let owner = caller.owner(&request.whose)?;
        let (before, limit) = before(&request.paging)?;
        let turns = self.capture.turns(&owner, &id, before, limit + 1).await?;
        let Some(mut turns) = turns else { return Err(ApiError::no_such("session")) };
        let next_cursor = cursor::next(&mut turns, limit, |turn| turn.number);
        let hidden = self.hidden_turns(&owner).await?;
        turns.retain(|turn| !hidden.contains(&turn.id));
        let learned = self.learned_in(owner, id).await?;
        let of =
            |turn: &TurnRow, memory: &Memory| memory.provenance.turn.as_ref() == Some(&turn.id);
        let learned =
            |turn: &TurnRow| learned.iter().filter(|memory| of(turn, memory)).cloned().collect();
        Ok(SessionTurnsView::of(turns, next_cursor, learned))
    }

    /// The ids of turns whose words are hidden, because the user asked to forget a memory that they said.
    pub(super) async fn hidden_turns(&self, owner: &Owner) -> Result<HashSet<String>, ApiError> {
        let mut query = ListQuery {
            scope: ScopeQuery::of(owner.clone()),
            filter: Some(Filter::Status(vec![Status::Forgotten])),
            limit: LEARNED,
            cursor: None,
            now: self.clock.now(),
        };
        let mut hidden = HashSet::new();
        loop {
            let page = self.store.list(&query).await?;
            let said = page.memories.iter().flat_map(Memory::occurrences);
            hidden.extend(said.map(|said| said.turn));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(hidden),
            }
        }
    }

    /// The memories of a session, of any status; of very many the newest.
    async fn learned_in(&self, owner: Owner, session: String) -> Result<Vec<Memory>, ApiError> {
        let filter =
            Filter::And(vec![Filter::Session(session), Filter::Status(Status::ALL.to_vec())]);
        let query = ListQuery {
            scope: ScopeQuery::of(owner),
            filter: Some(filter),
            limit: LEARNED,
            cursor: None,
            now: self.clock.now(),
        };
        Ok(self.store.list(&query).await?.memories)
    }
}

/// The row before which a page starts, and the page's size.
fn before(paging: &Paging) -> Result<(Option<i64>, usize), ApiError> {
    let before = paging.cursor.as_deref().map(cursor::decode_number).transpose()?;
    Ok((before, page(paging.limit)?))
}
