//! Why a job or a request to forget failed.

use std::time::Duration;

use crate::reconcile::ReconcileError;
use memgate_core::memory::StoreError;
use memgate_embed::EmbedError;
use memgate_sqlite::DatabaseError;

/// Why what a memory was made of could not be forgotten.
#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a job failed. The texts hold no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobError {
    /// It cannot run now; this is not counted as a failed try.
    NotNow(Duration),
    /// Something it needs is away. For a time this is not counted as a failed try.
    Away(String),
    /// The store did not answer: it is away, or did the work and lost the answer.
    NoAnswer(String),
    /// It failed, and is tried at most `tries` times.
    Retry { reason: String, tries: u32 },
    /// It would fail each time.
    Final(String),
}

impl JobError {
    /// A failure that is tried again as often as any job.
    pub(crate) fn retry(reason: impl ToString) -> Self {
        Self::Retry { reason: reason.to_string(), tries: u32::MAX }
    }

    /// Turns a final failure into one that is tried again, for a job that must not be given up.
    pub(crate) fn or_retry(self) -> Self {
        match self {
            Self::Final(reason) => Self::retry(reason),
            other => other,
        }
    }
}

impl From<DatabaseError> for JobError {
    fn from(error: DatabaseError) -> Self {
        Self::retry(error)
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Invalid { .. } | StoreError::Unreadable(_) => {
                Self::Final(error.to_string())
            }
            StoreError::Unavailable(_) => Self::NoAnswer(error.to_string()),
            StoreError::Busy(_) => Self::Away(error.to_string()),
            StoreError::NotFound | StoreError::Exists | StoreError::Conflict { .. } => {
                Self::retry(error)
            }
        }
    }
}

impl From<EmbedError> for JobError {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::Unavailable(_) => Self::Away(error.to_string()),
            _ => Self::retry(error),
        }
    }
}

impl From<ForgetError> for JobError {
    fn from(error: ForgetError) -> Self {
        match error {
            ForgetError::Journal(error) => error.into(),
            ForgetError::Store(error) => error.into(),
        }
    }
}

impl From<ReconcileError> for JobError {
    fn from(error: ReconcileError) -> Self {
        match error {
            ReconcileError::Store(error) => error.into(),
            ReconcileError::Embed(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_server_that_is_down_costs_a_job_no_try() {
        let down = JobError::from(EmbedError::Unavailable("no connection".into()));
        assert!(matches!(down, JobError::Away(reason) if reason.contains("no connection")));
        let failed = JobError::from(EmbedError::Failed("no direction".into()));
        assert!(matches!(failed, JobError::Retry { .. }));
    }
}
