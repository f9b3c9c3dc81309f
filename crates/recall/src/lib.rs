//! Recall: finds the memories that help with a message and writes them as a context.
//!
//! The stages, one folder each: `decide` (search or skip) → `query` (what to search for) → `retrieve` (candidates from
//! the store) → `ranking` (relevance and order) → `select` (which hits are presented) → `present` (the text). `plan`
//! runs them for one message, `exchange` for one request to a model; `service` is the façade. `trail` keeps what they did
//! for the latest requests, and why. Recall does not depend
//! on a wire format, on Envoy, on the configuration file or on how a store keeps memories.

mod decide;
mod decision;
mod exchange;
mod hit;
mod pipeline;
mod plan;
mod present;
mod query;
mod ranking;
mod request;
mod retrieve;
mod select;
mod service;
mod services;
mod settings;
pub mod signals;
mod state;
mod text;
mod trail;

pub use decide::{Decided, decide};
pub use decision::{DecidedBy, Decision, Message, RecallError, Skip};
pub use exchange::{Conversation, context_for_exchange};
pub use hit::{FeatureRanks, FeatureScores, Hit, HitScope, PresentedMemory, ScoreBreakdown, Why};
pub use plan::Plan;
pub use present::{Context, ContextContent, MAY_HAVE_CHANGED, Shared, write_context};
#[cfg(fuzzing)]
pub use query::fuzz_self_query;
pub use query::{Asked, Help, Query, Rewriter, Technique, Words, build_query, prepare_query};
pub use ranking::{Question, rank};
pub use request::{Budget, RecallRequest, RecallSettings, Selection};
pub use select::select;
pub use service::Recall;
pub use settings::{
    Fusion, Publish, QueryConfig, RankingConfig, RankingWeights, ScopesConfig, TypeWeights,
};
pub use signals::{Earlier, Name};
pub use state::{AccessTracker, LoopKey, ToolLoopCache};
pub use text::tokens::{prepare as prepare_tokens, tokens};
pub use trail::{
    Candidate, Cut, MayStore, QueryRecord, QueryWords, RecallRecord, RecallTrail, Recalled,
    Standing, Step, Trace, TrailSettings,
};

#[cfg(test)]
mod tests;
