//! Ends sessions and runs pending jobs at once.

use std::time::Duration;

use crate::api::{
    ApiError, EndedView, FlushedView,
    operations::Operations,
    read::requests::{FlushRequest, Whose, owner},
};

/// Default time to wait, in milliseconds.
const PATIENCE: u64 = 30_000;
/// Maximum time to wait, in milliseconds.
const MAX_PATIENCE: u64 = 600_000;

impl Operations {
    /// Waits for a user's exchanges in flight, ends the sessions and runs the jobs.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the journal is unavailable.
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

    /// Ends a session, so that its remaining turns are learned from now.
    ///
    /// # Errors
    /// 404 when the user has no such session, 503 while the journal is unavailable.
    pub async fn end_session(&self, id: &str, whose: &Whose) -> Result<EndedView, ApiError> {
        match self.capture.end_session(&whose.owner()?, id).await? {
            Some(turns) => Ok(EndedView { turns }),
            None => Err(ApiError::no_such("session")),
        }
    }
}
