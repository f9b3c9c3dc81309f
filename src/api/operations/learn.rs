//! Ends sessions and runs pending jobs at once.

use std::time::Duration;

use crate::api::{
    ApiError, Caller, EndedView, FlushRequest, FlushedView, Whose, WithId, operations::Operations,
};
use memgate_access::{Action, Subject};

/// Default time to wait, in milliseconds.
const PATIENCE: u64 = 30_000;
/// Maximum time to wait, in milliseconds.
const MAX_PATIENCE: u64 = 600_000;

impl Operations {
    /// Waits for a user's exchanges in flight, ends the sessions and runs the jobs.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
    pub async fn flush(
        &self,
        caller: &Caller,
        request: FlushRequest,
    ) -> Result<FlushedView, ApiError> {
        let owner = caller.owner(&request.whose)?;
        let patience = request.options.timeout_ms.unwrap_or(PATIENCE);
        if patience > MAX_PATIENCE {
            let cause = format!("must be at most {MAX_PATIENCE}");
            return Err(ApiError::invalid("timeout_ms", cause));
        }
        let flushed = self.capture.flush(&owner, Duration::from_millis(patience)).await?;
        self.record(caller, Action::MemoryFlush, Subject::of(&owner)).await;
        Ok(FlushedView {
            sessions_ended: flushed.sessions_ended,
            jobs_done: flushed.jobs_done,
            jobs_pending: flushed.jobs_pending,
            jobs_dead: flushed.jobs_dead,
        })
    }

    /// Ends a session, so that its remaining turns are learned from now.
    ///
    /// # Errors
    /// 404 when the user has no such session, 503 while the journal is unavailable.
    pub async fn end_session(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<EndedView, ApiError> {
        let owner = caller.owner(&whose)?;
        let Some(turns) = self.capture.end_session(&owner, &id).await? else {
            return Err(ApiError::no_such("session"));
        };
        // A session's name is the client's text, so the log does not hold it.
        self.record(caller, Action::SessionEnd, Subject::of(&owner).count(1)).await;
        Ok(EndedView { turns })
    }
}
