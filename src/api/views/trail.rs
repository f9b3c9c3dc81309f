//! The trail as JSON: recalls with their candidates, turns with their outcomes.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::api::{
    MemoryView,
    views::decisions::{DecisionHead, tenant},
};
use memgate_capture::{TurnEvent, TurnName, TurnRecord};
use memgate_recall::{Candidate, RecallRecord, ScoreBreakdown, Standing};

/// A recall: the decision for one request, its candidates and its context.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecallView {
    /// Its decision.
    #[serde(flatten)]
    pub head: DecisionHead,
    /// The query; absent unless `memory.trail.content` is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<QueryView>,
    /// Techniques that changed the query.
    pub techniques: Vec<String>,
    /// Minimum relevance of a presented memory.
    pub threshold: f32,
    /// Maximum number of presented memories.
    pub limit: usize,
    /// The candidates: first the presented ones, in their order; then those left out before the ranking; then
    /// the rest, the most relevant first.
    pub candidates: Vec<CandidateView>,
    /// Size of the added context, in bytes.
    pub context_bytes: usize,
    /// How long each step took. The longest of several at one time counts.
    pub steps: Vec<StepView>,
}

/// The words of a query.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct QueryView {
    /// The text that was searched for.
    pub text: String,
    /// The statement that was embedded in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The parts that were searched beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The question in a model's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
}

/// A memory that was found, and what became of it.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CandidateView {
    /// Id of the memory.
    pub memory_id: String,
    /// Its scope: `user`, `session` (the user's, of that session), `agent`, `organisation`, or `shared` (another user's).
    pub scope: String,
    /// `presented`; `preference` (presented whatever is asked); or what cut it: `threshold`, `limit`, `near_duplicate`,
    /// `session_cap`, `scope_cap`, `collapsed` (a turn and its statements are presented once), `summary`, `forgotten`,
    /// `conversation` (the conversation holds it), `preference_known` (it is among the preferences), `budget`.
    pub outcome: String,
    /// Calibrated relevance, 0 to 1; null where it was not ranked.
    pub score: Option<f32>,
    /// The parts of the score and of the place in the order.
    #[schema(value_type = Option<Object>)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<ScoreBreakdown>,
    /// Its content now; absent unless `memory.trail.content` is on and the memory still exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// How long a step took.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepView {
    /// The step.
    pub step: String,
    /// Milliseconds.
    pub ms: f64,
}

/// The latest recalls of a user.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecallsView {
    /// The newest first.
    pub recalls: Vec<RecallView>,
}

/// The outcomes of a turn, each with its reason.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TurnView {
    /// Its id; absent where nothing of it is in the journal yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The id of its first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The user's id; absent for a session without a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The tenant, unless it is the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// When it began.
    pub at: Timestamp,
    /// Its outcomes, in the order of the decisions.
    pub events: Vec<TurnEventView>,
}

/// Something that a turn led to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TurnEventView {
    /// The subject: `message`, `reply`, `turn`, `statement`, `preference` or `command`.
    pub what: String,
    /// Its outcome: `kept`, `updated`, `merged`, `superseded`, `outdated`, `refused`, `redacted`, `dropped` or
    /// `forgotten`.
    pub became: String,
    /// Why: the class that was refused or removed, or the reason to drop it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Id of the memory that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<String>,
    /// Id of the memory that superseded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How many.
    pub count: u64,
}

/// Why a text is remembered and shown, or not.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WhyView {
    /// `never_stored`, `superseded`, `not_asked` (no request with a search since is in the trail), `not_searched` (the request
    /// was decided without a search), `not_found`, `cut` or `presented`.
    pub answer: String,
    /// Why, as a word: the class that admission refuses, the decision, or what cut it.
    pub reason: Option<String>,
    /// The memory that says it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryView>,
    /// The request that the answer is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Its relevance there, 0 to 1, if known.
    pub score: Option<f32>,
    /// The minimum relevance there.
    pub threshold: Option<f32>,
    /// For a text that was never stored: what the user's latest turns did not keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnView>,
}

impl From<RecallRecord> for RecallView {
    fn from(record: RecallRecord) -> Self {
        let head = DecisionHead::of(&record);
        let query = record.query.map(|query| QueryView {
            text: query.text,
            statement: query.statement,
            parts: query.parts,
            rewritten: query.rewritten,
        });
        let steps = record.steps.iter().map(|(step, took)| StepView {
            step: <&str>::from(*step).to_owned(),
            ms: took.as_secs_f64() * 1_000.0,
        });
        Self {
            head,
            query,
            techniques: record.techniques.into_iter().map(Cow::into_owned).collect(),
            threshold: record.threshold,
            limit: record.limit,
            candidates: record.candidates.into_iter().map(CandidateView::from).collect(),
            context_bytes: record.context_bytes,
            steps: steps.collect(),
        }
    }
}

impl From<Candidate> for CandidateView {
    fn from(candidate: Candidate) -> Self {
        Self {
            memory_id: candidate.id.as_str().to_owned(),
            scope: <&str>::from(candidate.scope).to_owned(),
            outcome: outcome(candidate.standing).to_owned(),
            score: candidate.score,
            parts: candidate.breakdown,
            content: None,
        }
    }
}

/// The name of a candidate's outcome.
pub(in crate::api) fn outcome(standing: Standing) -> &'static str {
    match standing {
        Standing::Presented => "presented",
        Standing::Preference => "preference",
        Standing::Cut(why) => why.into(),
    }
}

impl From<TurnRecord> for TurnView {
    fn from(TurnRecord { name, events }: TurnRecord) -> Self {
        let TurnName { owner, request_id, turn, at } = name;
        Self {
            id: turn,
            request_id,
            user_id: owner.user().map(str::to_owned),
            tenant_id: tenant(&owner),
            at,
            events: events.into_iter().map(TurnEventView::from).collect(),
        }
    }
}

impl From<TurnEvent> for TurnEventView {
    fn from(event: TurnEvent) -> Self {
        Self {
            what: event.what.into_owned(),
            became: <&str>::from(event.became).to_owned(),
            reason: event.reason.map(Cow::into_owned),
            memory_id: event.memory.map(|id| id.as_str().to_owned()),
            by: event.by.map(|id| id.as_str().to_owned()),
            count: event.count,
        }
    }
}
