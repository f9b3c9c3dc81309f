//! Hurrying what is learnt in the background.

use std::time::Duration;

use super::Operations;
use crate::api::{ApiError, EndedView, FlushRequest, FlushedView, Whose, requests::owner};

/// The longest wait when the caller names none.
const PATIENCE: u64 = 30_000;
/// The longest wait.
const MAX_PATIENCE: u64 = 600_000;

impl Operations {
    /// Waits for a user's exchanges in flight, ends the sessions and runs the jobs.
    ///
    /// # Errors
    /// 400 for a bad field, 503 while the journal does not work.
    pub async fn flush(&self, request: &FlushRequest) -> Result<FlushedView, ApiError> {
        let owner = owner(&request.user_id, request.tenant_id.as_deref())?;
        let patience = request.timeout_ms.unwrap_or(PATIENCE);
        if patience > MAX_PATIENCE {
            let cause = format!("must be at most {MAX_PATIENCE}");
            return Err(ApiError::invalid("timeout_ms", cause));
        }
        let flushed = self.capture.flush(&owner, Duration::from_millis(patience)).await?;
        Ok(FlushedView {
            sessions_ended: flushed.sessions_ended,
            jobs_done: flushed.jobs_done,
            jobs_pending: flushed.jobs_pending,
            jobs_dead: flushed.jobs_dead,
        })
    }

    /// Ends a session: what is left to learn from it is learnt now.
    ///
    /// # Errors
    /// 404 when the user has no such session, 503 while the journal does not work.
    pub async fn end_session(&self, id: &str, whose: &Whose) -> Result<EndedView, ApiError> {
        match self.capture.end_session(&whose.owner()?, id).await? {
            Some(turns) => Ok(EndedView { turns }),
            None => Err(ApiError::no_such("session")),
        }
    }
}
