//! The requests about jobs and sessions.

use memgate_located::flattened;
use serde::{Deserialize, Serialize};

use crate::api::read::requests::members::{Paging, Whose};
use memgate_capture::JobStanding;

flattened! {
    /// `POST /v1/memory/flush`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct FlushRequest {
        /// The user.
        pub whose: Whose,
        /// How long to wait.
        pub options: FlushOptions,
    }
}

/// How long a [`FlushRequest`] waits.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FlushOptions {
    /// Maximum time to wait, in milliseconds, up to ten minutes. Default: 30 seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

flattened! {
    /// `GET /v1/jobs`.
    #[derive(Clone, Debug, Serialize)]
    pub struct JobsRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's jobs.
        pub all: AllJobsRequest,
    }
}

flattened! {
    /// `GET /admin/jobs`: jobs of all users.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct AllJobsRequest {
        /// Which jobs.
        pub filter: JobFilter,
        /// The page.
        pub paging: Paging,
    }
}

/// Which jobs [`AllJobsRequest`] lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct JobFilter {
    /// Only jobs in this state.
    #[param(schema_with = crate::api::read::schemas::job_state)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobStanding>,
}

/// `POST /admin/jobs/retry`: jobs of all users.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RetryAllRequest {}

flattened! {
    /// `GET /v1/sessions`.
    #[derive(Clone, Debug, Serialize)]
    pub struct SessionsRequest {
        /// The user.
        pub whose: Whose,
        /// The page.
        pub paging: Paging,
    }
}
