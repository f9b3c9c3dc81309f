//! What callers see of jobs and sessions as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::cursor;
use crate::{
    capture::{Forgetting, JobRow, JobStanding, SessionRow},
    memory::Owner,
};

/// A job. What it is about is content, and is not shown.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// Its number.
    pub id: i64,
    /// What it does.
    pub kind: String,
    /// Where it stands; one that runs is pending.
    pub state: JobStanding,
    /// Whose; absent when it is for nobody in particular.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The tenant, where it is not the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// Runs that failed.
    pub tries: u32,
    /// When it was first asked for.
    pub created_at: Timestamp,
    /// When it runs; of a dead one, when it was last to run.
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
            user_id: job.owner.as_ref().map(|owner| owner.user().to_owned()),
            tries: job.tries,
            created_at: job.created_at,
            due_at: job.due_at,
            last_error: job.last_error,
        }
    }
}

/// A page of jobs, newest first.
#[derive(Debug, Serialize, Deserialize)]
pub struct JobsView {
    /// The jobs.
    pub jobs: Vec<JobView>,
    /// What to ask the next page with; null when there is no more.
    pub next_cursor: Option<String>,
}

impl JobsView {
    /// A page of at most so many, of one job more where there is one.
    pub(super) fn of(mut jobs: Vec<JobRow>, limit: usize) -> Self {
        let next_cursor = next(&mut jobs, limit, |job| job.id);
        Self { jobs: jobs.into_iter().map(JobView::from).collect(), next_cursor }
    }
}

/// Jobs that will run again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetriedView {
    /// So many.
    pub retried: u64,
}

/// What a user asked to be forgotten in a message, and can bring back.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgettingsView {
    /// The last one first.
    pub forgettings: Vec<ForgettingView>,
}

/// One request to forget.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgettingView {
    /// Its id.
    pub id: String,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// When what it hides is erased.
    pub erase_at: Timestamp,
    /// The ids of the memories that it hides.
    pub memories: Vec<String>,
}

impl From<Forgetting> for ForgettingView {
    fn from(of: Forgetting) -> Self {
        let memories = of.memories.iter().map(|id| id.as_str().to_owned()).collect();
        Self { id: of.id.to_string(), asked_at: of.asked_at, erase_at: of.erase_at, memories }
    }
}

/// A forgetting that was undone.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneView {
    /// Memories that are back.
    pub restored: u64,
}

/// A session.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// Its complete turns so far.
    pub turns: u32,
    /// When its first turn began.
    pub started_at: Timestamp,
    /// When its last turn ended.
    pub active_at: Timestamp,
    /// When it ended; null while it goes on.
    pub ended_at: Option<Timestamp>,
}

/// A page of sessions, the one that began last first.
#[derive(Debug, Serialize, Deserialize)]
pub struct SessionsView {
    /// The sessions.
    pub sessions: Vec<SessionView>,
    /// What to ask the next page with; null when there is no more.
    pub next_cursor: Option<String>,
}

impl SessionsView {
    /// A page of at most so many, of one session more where there is one.
    pub(super) fn of(mut sessions: Vec<SessionRow>, limit: usize) -> Self {
        let next_cursor = next(&mut sessions, limit, |session| session.number);
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

/// Cuts a page to its length; where something is cut, tells where the page ended.
fn next<T>(rows: &mut Vec<T>, limit: usize, number: impl Fn(&T) -> i64) -> Option<String> {
    let more = rows.len() > limit;
    rows.truncate(limit);
    rows.last().filter(|_| more).map(|last| cursor::encode_number(number(last)))
}
