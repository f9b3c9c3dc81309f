//! The record of one request: what can be looked up.

use std::{
    borrow::Cow,
    collections::HashSet,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    hit::{HitScope, PresentedMemory, ScoreBreakdown, Why},
    query::Query,
    text::tokens::tokens,
    trail::trace::{Cut, Seen, Step, Trace},
};
use memgate_core::memory::{Evidence, MemoryId, Owner, Space};
use memgate_trail::{Record, Stored};

/// Candidates kept of one request: more than are compared for one, unless a question has several parts. The best stay.
const MAX_CANDIDATES: usize = 64;

/// A request that was answered, as the trail gets it.
#[derive(Debug)]
pub struct Recalled {
    /// Its id.
    pub request_id: String,
    /// Whose.
    pub owner: Owner,
    /// When it came.
    pub at: Timestamp,
    /// When it came, for what was forgotten since.
    pub began: Instant,
    /// The decision, as in the response header.
    pub decision: &'static str,
    /// The least relevance of a presented memory.
    pub threshold: f32,
    /// The most memories presented.
    pub limit: usize,
    /// The trace of the stages.
    pub trace: Trace,
    /// The presented memories.
    pub presented: Vec<PresentedMemory>,
    /// The context; empty where none was added.
    pub context: String,
    /// The user's message, where something may be learned from the request: the words of its query are kept if all of
    /// these may be stored.
    pub message: Option<String>,
}

/// The words of a query that its record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryWords {
    /// None.
    None,
    /// Those of the message alone. Earlier messages may have come with a wish not to store them.
    OfMessage,
    /// All: the caller wrote the messages.
    All,
}

/// The recall for one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecallRecord {
    /// The request's id.
    pub request_id: String,
    /// Whose.
    pub owner: Owner,
    /// When it came.
    pub at: Timestamp,
    /// The decision, as in the response header.
    pub decision: Cow<'static, str>,
    /// The source of the decision; none where nothing had decided when the time was over.
    pub decided_by: Option<Cow<'static, str>>,
    /// The calibrated probability that memory helps, where the model was asked.
    pub need: Option<f32>,
    /// The query, where one was built and words may be kept.
    #[serde(default)]
    pub query: Option<QueryRecord>,
    /// The techniques that changed the query.
    pub techniques: Vec<Cow<'static, str>>,
    /// The least relevance of a presented memory.
    pub threshold: f32,
    /// The most memories presented.
    pub limit: usize,
    /// The candidates: what is presented, in its order; what was left out before the ranking; the rest, the most relevant
    /// first.
    pub candidates: Vec<Candidate>,
    /// Bytes of the context.
    pub context_bytes: usize,
    /// Tokens of the context.
    pub context_tokens: usize,
    /// How long each step took.
    pub steps: Vec<(Step, Duration)>,
}

/// The words of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryRecord {
    /// The text that was searched for.
    pub text: String,
    /// The statement that was embedded in its place.
    pub statement: Option<String>,
    /// The parts that were searched beside it.
    pub parts: Vec<String>,
    /// The question in a model's words.
    pub rewritten: Option<String>,
}

/// A candidate of one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The memory.
    pub id: MemoryId,
    /// The scope of its owner, as the request saw it.
    #[serde(default)]
    pub scope: HitScope,
    /// Whether it is presented, and if not, why.
    pub standing: Standing,
    /// Its calibrated relevance, where it was ranked.
    pub score: Option<f32>,
    /// The parts of its score and of its place in the order, where it was ranked.
    pub breakdown: Option<ScoreBreakdown>,
}

/// Whether a candidate is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It was found and is presented.
    Presented,
    /// It is a preference or a wish about every answer, and is presented.
    Preference,
    /// It is not presented.
    Cut(Cut),
}

impl RecallRecord {
    /// The record of a request. Of a session without a user it never has words.
    #[must_use]
    pub fn of(recalled: Recalled, words: QueryWords) -> Self {
        let Recalled { request_id, owner, at, decision, threshold, limit, .. } = recalled;
        let Recalled { trace, presented, context, .. } = recalled;
        let Seen { decided, query, rewritten, left_out, cut, selected, steps } = trace.into_seen();
        let used = query.iter().flat_map(|query| &query.used);
        let techniques =
            used.map(|(technique, _)| Cow::from(<&'static str>::from(*technique))).collect();
        let named = !matches!(owner.space(), Space::Session(_));
        let query = query.filter(|_| named).and_then(|query| match words {
            QueryWords::None => None,
            QueryWords::OfMessage => Some(QueryRecord::of_message(query)),
            QueryWords::All => Some(QueryRecord::of(query, rewritten)),
        });
        let mut candidates = Candidates::default();
        presented.into_iter().for_each(|it| candidates.presented(it));
        let selected = selected.into_iter().map(|hit| (hit, Cut::Budget));
        for (hit, why) in selected.chain(cut) {
            candidates.cut((hit.memory.id, hit.scope), why, Some((hit.score, hit.breakdown)));
        }
        for (Evidence { memory, .. }, why) in left_out {
            let scope = HitScope::of(&memory, &owner, None);
            candidates.cut((memory.id, scope), why, None);
        }
        Self {
            request_id,
            owner,
            at,
            decision: decision.into(),
            decided_by: decided.map(|(by, _)| by.into()),
            need: decided.and_then(|(_, need)| need),
            query,
            techniques,
            threshold,
            limit,
            candidates: candidates.finished(),
            context_bytes: context.len(),
            context_tokens: if context.is_empty() { 0 } else { tokens(&context) },
            steps,
        }
    }

    /// The candidates that are presented.
    pub fn presented(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|it| !matches!(it.standing, Standing::Cut(_)))
    }

    /// The outcome of a memory; none where it was no candidate.
    #[must_use]
    pub fn candidate(&self, id: &MemoryId) -> Option<&Candidate> {
        self.candidates.iter().find(|it| it.id == *id)
    }
}

impl Record for RecallRecord {
    fn owner(&self) -> &Owner {
        &self.owner
    }

    fn ids(&self) -> [Option<&str>; 2] {
        [Some(&self.request_id), None]
    }

    fn weight(&self) -> usize {
        let query = self.query.as_ref().map_or(0, |query| {
            let texts = query.parts.iter().chain(&query.statement).chain(&query.rewritten);
            query.text.len() + texts.map(String::len).sum::<usize>()
        });
        let ids = self.candidates.iter().map(|it| it.id.as_str().len()).sum::<usize>();
        let candidates = self.candidates.capacity() * size_of::<Candidate>() + ids;
        size_of::<Self>() + self.request_id.len() + query + candidates
    }
}

impl Stored for RecallRecord {
    const KIND: &'static str = "request";

    fn at(&self) -> Timestamp {
        self.at
    }

    /// An id that comes again is another request's.
    fn join(self, newer: Self) -> Self {
        newer
    }
}

impl QueryRecord {
    fn of(query: Query, rewritten: Option<String>) -> Self {
        Self { text: query.text, statement: query.statement, parts: query.parts, rewritten }
    }

    /// Without the words of earlier messages: key terms, and a question that a model completed by them.
    fn of_message(query: Query) -> Self {
        let text = if query.key_terms.is_empty() { query.text } else { query.message };
        Self { text, statement: query.statement, parts: query.parts, rewritten: None }
    }
}

/// Candidates, each memory once: what is presented, else the first reason against it.
#[derive(Default)]
struct Candidates {
    all: Vec<Candidate>,
    /// By id, and whether it is the user's own.
    known: HashSet<(bool, MemoryId)>,
}

impl Candidates {
    fn presented(&mut self, PresentedMemory { id, why }: PresentedMemory) {
        let candidate = match why {
            Why::Found { scope, score, breakdown } => Candidate {
                id,
                scope,
                standing: Standing::Presented,
                score: Some(score),
                breakdown: Some(*breakdown),
            },
            Why::Preference => Candidate {
                id,
                scope: HitScope::User,
                standing: Standing::Preference,
                score: None,
                breakdown: None,
            },
        };
        self.add(candidate);
    }

    fn cut(
        &mut self,
        (id, scope): (MemoryId, HitScope),
        why: Cut,
        scored: Option<(f32, ScoreBreakdown)>,
    ) {
        let (score, breakdown) = scored.unzip();
        self.add(Candidate { id, scope, standing: Standing::Cut(why), score, breakdown });
    }

    fn add(&mut self, candidate: Candidate) {
        if self.known.insert((candidate.scope.is_own(), candidate.id.clone())) {
            self.all.push(candidate);
        }
    }

    fn finished(self) -> Vec<Candidate> {
        let mut all = self.all;
        let shown = all.iter().take_while(|it| !matches!(it.standing, Standing::Cut(_))).count();
        // Those that were left out before the ranking first: they are few, and nothing shows how relevant they are.
        let relevance = |it: &Candidate| it.score.unwrap_or(f32::MAX);
        all[shown..].sort_by(|a, b| relevance(b).total_cmp(&relevance(a)));
        all.truncate(MAX_CANDIDATES.max(shown));
        all.shrink_to_fit();
        all
    }
}
