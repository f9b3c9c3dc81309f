//! Decisions as JSON: what a request got, in a line, without content.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use memgate_core::memory::Owner;
use memgate_recall::{RecallRecord, Step};

/// The decision for one request, and how much it added to the prompt.
#[derive(Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DecisionHead {
    /// The request's id, as in `x-memgate-request-id`.
    pub request_id: String,
    /// The user's id; absent for a session without a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The tenant, unless it is the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// When it came.
    pub at: Timestamp,
    /// The decision, as in `x-memgate-decision`.
    pub decision: String,
    /// The decider: `earlier` (a filter before memgate), `rule`, `lexical` (the message's words), `model`, `memory` (one
    /// holds the message's rare words), `tool_loop` (the context of the loop's first call); null where nothing had yet.
    pub decided_by: Option<String>,
    /// Calibrated probability that memory helps; null where the model was not asked.
    pub need: Option<f32>,
    /// Size of the added context, in tokens of `o200k_base`.
    pub context_tokens: usize,
}

impl DecisionHead {
    pub(super) fn of(record: &RecallRecord) -> Self {
        Self {
            request_id: record.request_id.clone(),
            user_id: record.owner.user().map(str::to_owned),
            tenant_id: tenant(&record.owner),
            at: record.at,
            decision: record.decision.to_string(),
            decided_by: record.decided_by.as_deref().map(str::to_owned),
            need: record.need,
            context_tokens: record.context_tokens,
        }
    }
}

/// The decision for one request. `GET /v1/recalls/{id}` has the rest.
#[derive(Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DecisionView {
    /// Its decision.
    #[serde(flatten)]
    pub head: DecisionHead,
    /// Number of memories that were found.
    pub candidates: usize,
    /// Number of memories that were presented, preferences included.
    pub presented: usize,
    /// Milliseconds that the request waited.
    pub ms: f64,
}

impl From<&RecallRecord> for DecisionView {
    fn from(record: &RecallRecord) -> Self {
        let total = record.steps.iter().find(|(step, _)| *step == Step::Total);
        Self {
            head: DecisionHead::of(record),
            candidates: record.candidates.len(),
            presented: record.presented().count(),
            ms: total.map_or(0.0, |(_, took)| took.as_secs_f64() * 1_000.0),
        }
    }
}

/// The latest decisions.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DecisionsView {
    /// The newest first.
    pub decisions: Vec<DecisionView>,
}

/// The tenant, unless it is the default one.
pub(super) fn tenant(owner: &Owner) -> Option<String> {
    (owner.tenant() != Owner::DEFAULT_TENANT).then(|| owner.tenant().to_owned())
}
