//! The latest requests of all users, summed up as JSON: neither content nor users.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A summary of recall for the requests since a time, as far as the trail goes back.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecallSummaryView {
    /// The requests that came at this time or later.
    pub since: Timestamp,
    /// When the first of them came; null without requests.
    pub first_at: Option<Timestamp>,
    /// Number of requests.
    pub requests: u64,
    /// Number of requests by decision.
    pub by_decision: BTreeMap<String, u64>,
    /// Number of searched requests for which a memory was found and presented.
    pub with_hits: u64,
    /// The steps, the slowest first.
    pub steps: Vec<StepSummaryView>,
    /// Milliseconds of everything that a request waited for.
    pub total: Option<StepSummaryView>,
}

/// How long a step took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepSummaryView {
    /// The step.
    pub step: String,
    /// Number of requests that had it.
    pub requests: u64,
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile, in milliseconds.
    pub p95_ms: f64,
    /// The longest time, in milliseconds.
    pub max_ms: f64,
    /// The request that it took the longest for.
    pub slowest_request_id: String,
}
