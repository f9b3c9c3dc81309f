//! Jobs and sessions as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::api::cursor;
use memgate_capture::{Forgetting, JobRow, JobStanding, SessionRow};
use memgate_core::memory::Owner;

/// A job. Its payload is content and is not shown.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JobView {
    /// Number of the job.
    pub id: i64,
    /// Kind of the job.
    pub kind: String,
    /// State of the job; a running job is pending.
    #[schema(schema_with = crate::api::read::schemas::job_state)]
    pub state: JobStanding,
    /// The user; absent for jobs that belong to no user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The tenant, unless it is the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Number of failed runs.
    pub tries: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it is due; for a dead job, when it was last due.
    pub due_at: Timestamp,
    /// Why its last run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl From<JobRow> for JobView {
    fn from(job: JobRow) -> Self {
        let tenant = job.owner.as_ref().map(Owner::tenant);
        Self {
            id: job.id,
            kind: job.kind,
            state: job.state,
            tenant_id: tenant.filter(|name| *name != Owner::DEFAULT_TENANT).map(str::to_owned),
            user_id: job.owner.as_ref().and_then(|owner| owner.user()).map(str::to_owned),
            tries: job.tries,
            created_at: job.created_at,
            due_at: job.due_at,
            last_error: job.last_error,
        }
    }
}

/// A page of jobs, newest first.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JobsView {
    /// The jobs.
    pub jobs: Vec<JobView>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

impl JobsView {
    /// Creates a page of at most `limit` jobs; `jobs` has one more if there is a next page.
    pub(in crate::api) fn of(mut jobs: Vec<JobRow>, limit: usize) -> Self {
        let next_cursor = cursor::next(&mut jobs, limit, |job| job.id);
        Self { jobs: jobs.into_iter().map(JobView::from).collect(), next_cursor }
    }
}

/// Result of retrying jobs.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RetriedView {
    /// Number of jobs that will run again.
    pub retried: u64,
}

/// Memories hidden by a "forget …" message that can still be restored.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ForgettingsView {
    /// The latest first.
    pub forgettings: Vec<ForgettingView>,
}

/// One request to forget.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ForgettingView {
    /// Its id.
    pub id: String,
    /// When the user asked for it.
    pub asked_at: Timestamp,
    /// When the hidden memories are erased.
    pub erase_at: Timestamp,
    /// Ids of the hidden memories.
    pub memories: Vec<String>,
}

impl From<Forgetting> for ForgettingView {
    fn from(of: Forgetting) -> Self {
        let memories = of.memories.iter().map(|id| id.as_str().to_owned()).collect();
        Self { id: of.id.to_string(), asked_at: of.asked_at, erase_at: of.erase_at, memories }
    }
}

/// Result of undoing a request to forget.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UndoneView {
    /// Number of restored memories.
    pub restored: u64,
}

/// A session.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// Number of complete turns so far.
    pub turns: u32,
    /// When its first turn started.
    pub started_at: Timestamp,
    /// When its last turn ended.
    pub active_at: Timestamp,
    /// When it ended; null while it is open.
    pub ended_at: Option<Timestamp>,
}

/// A page of sessions, the latest started first.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SessionsView {
    /// The sessions.
    pub sessions: Vec<SessionView>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

impl SessionsView {
    /// Creates a page of at most `limit` sessions; `sessions` has one more if there is a next page.
    pub(in crate::api) fn of(mut sessions: Vec<SessionRow>, limit: usize) -> Self {
        let next_cursor = cursor::next(&mut sessions, limit, |session| session.number);
        let view = |session: SessionRow| SessionView {
            id: session.id,
            turns: session.turns,
            started_at: session.started_at,
            active_at: session.active_at,
            ended_at: session.ended_at,
        };
        Self { sessions: sessions.into_iter().map(view).collect(), next_cursor }
    }
}

/// Result of a flush.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FlushedView {
    /// Number of sessions that were open.
    pub sessions_ended: u64,
    /// Number of jobs that succeeded.
    pub jobs_done: u64,
    /// Number of jobs that had not run when the time was over.
    pub jobs_pending: u64,
    /// Number of jobs that failed for good.
    pub jobs_dead: u64,
}

/// A session that ended.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EndedView {
    /// Number of its turns.
    pub turns: u64,
}
