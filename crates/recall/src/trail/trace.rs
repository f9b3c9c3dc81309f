//! The trace of one request, filled by the stages while it runs. It copies nothing: hits that are cut are moved here
//! instead of being dropped, and become a record after the request was answered.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{decision::DecidedBy, hit::Hit, query::Query};
use memgate_core::memory::Evidence;

/// Why a candidate is not presented.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cut {
    /// Its relevance is below the threshold.
    Threshold,
    /// Enough better ones were found.
    Limit,
    /// A better one has nearly the same words.
    NearDuplicate,
    /// Its session has given as many as it may.
    SessionCap,
    /// Its scope (session, agent, organisation) has given as many as it may.
    ScopeCap,
    /// A turn and the statements taken from it are presented once.
    Collapsed,
    /// A session's summary, beside memories that say it better.
    Summary,
    /// The user asked to forget it.
    Forgotten,
    /// The conversation holds it already.
    Conversation,
    /// It is among the user's preferences.
    PreferenceKnown,
    /// The context had no room left.
    Budget,
}

/// A step of a request.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Step {
    /// Reading the body.
    Read,
    /// Deciding whether to search, with the embedding where the decision needs it.
    Decide,
    /// Preparing the query.
    Query,
    /// A model that helps with the query.
    Rewrite,
    /// Embedding the query.
    Embed,
    /// Searching the store.
    Search,
    /// Ordering the candidates.
    Rank,
    /// Writing the context.
    Context,
    /// Everything the request waited for.
    Total,
}

/// The trace of one request's recall. Its lock is held for a push only, never over an await; nobody
/// else waits for it, but for the parts of one question that are searched at the same time.
#[derive(Debug, Default)]
pub struct Trace(Mutex<Seen>);

/// The content of a trace.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) decided: Option<(&'static str, Option<f32>)>,
    pub(super) query: Option<Query>,
    /// The question in a model's words.
    pub(super) rewritten: Option<String>,
    /// Left out before they were ranked.
    pub(super) left_out: Vec<(Evidence, Cut)>,
    pub(super) cut: Vec<(Hit, Cut)>,
    /// The hits from which a context was written.
    pub(super) selected: Vec<Hit>,
    pub(super) steps: Vec<(Step, Duration)>,
}

impl Trace {
    /// Notes a decision.
    pub(crate) fn decided(&self, by: DecidedBy, need: Option<f32>) {
        self.with(|seen| seen.decided = Some((by.as_str(), need)));
    }

    /// Notes that an open tool loop gets its context again.
    pub(crate) fn in_tool_loop(&self) {
        self.with(|seen| seen.decided = Some(("tool_loop", None)));
    }

    /// Notes how long a step took. The longest of several at one time counts.
    pub fn step(&self, step: Step, took: Duration) {
        self.with(|seen| match seen.steps.iter_mut().find(|(known, _)| *known == step) {
            Some((_, known)) => *known = took.max(*known),
            None => seen.steps.push((step, took)),
        });
    }

    /// Keeps the query.
    pub(crate) fn searched(&self, query: Query) {
        self.with(|seen| seen.query = Some(query));
    }

    /// Keeps the question as a model worded it.
    pub(crate) fn rewritten(&self, question: &str) {
        self.with(|seen| seen.rewritten = Some(question.to_owned()));
    }

    /// Keeps what was left out before the ranking.
    pub(crate) fn left_out(&self, evidence: Vec<Evidence>, why: Cut) {
        if !evidence.is_empty() {
            self.with(|seen| seen.left_out.extend(evidence.into_iter().map(|it| (it, why))));
        }
    }

    /// Keeps the hits that were cut.
    pub(crate) fn cut(&self, hits: Vec<(Hit, Cut)>) {
        self.with(|seen| match seen.cut.is_empty() {
            true => seen.cut = hits,
            false => seen.cut.extend(hits),
        });
    }

    /// Keeps the hits that were cut for one reason.
    pub(crate) fn cut_all(&self, hits: Vec<Hit>, why: Cut) {
        if !hits.is_empty() {
            self.with(|seen| seen.cut.extend(hits.into_iter().map(|hit| (hit, why))));
        }
    }

    /// Keeps the hits that a context was written from.
    pub(crate) fn selected(&self, hits: Vec<Hit>) {
        self.with(|seen| seen.selected = hits);
    }

    pub(super) fn into_seen(self) -> Seen {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R>(&self, change: impl FnOnce(&mut Seen) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
