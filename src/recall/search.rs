//! The search of one ask: embedded and looked up within a deadline. When the
//! embedder fails or is late the words alone are searched; only when that
//! fails too, recall has failed.

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::future::join_all;
use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::{
    Budget, Context, HeldContexts, Presented, Query, Rewriter, Skip, Touches,
    everyday::Everyday,
    gate::{distinct, gate},
    merge::merged,
    names::Names,
    profile,
    rank::{Hit, Question, Terms, rank},
    reading::{Aim, Read},
    said::without_said,
    scored::Scored,
};
use crate::{
    config::RankingConfig,
    embed::{EmbedError, Embedder},
    memory::{
        Evidence, Filter, Memory, MemoryId, MemoryStore, Owner, ScopeQuery, Search, StoreError,
    },
    models::Models,
    signals::Subject,
    telemetry::{Metrics, Phase, RankStep, Technique},
};

/// The store is asked for this many times what is presented, since ranking
/// reorders and drops near-duplicates.
const OVER_FETCH: usize = 4;
/// At least this many candidates of each kind of evidence. With 20, LoCoMo's evidence recall at 20 is two points lower
/// (conversations 26 and 42); with 60 no higher, and each one is read.
const MIN_CANDIDATES: usize = 40;
/// So many of those that mention what the query names are fetched besides, of each kind of evidence.
const MENTIONED: usize = 20;
/// The embedder's share of the time left; the rest is for the store.
pub(super) const EMBED_SHARE: f64 = 0.6;

/// The usual nearness of a question to everyday texts, for as long as it cannot be told.
const USUAL: f32 = 0.15;

/// What is searched for, and whose.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Whose memories.
    pub owner: &'a Owner,
    /// With a project: its memories and those of no project.
    pub project_id: Option<&'a str>,
    /// What is looked for.
    pub query: &'a Query,
    /// What was made of a text before: no other embedding is needed where it is the query's.
    pub read: Option<&'a Read>,
    /// The user's messages that the model is shown anyway, whatever memory finds.
    pub said: &'a [&'a str],
    /// How much, of what.
    pub terms: &'a Terms,
    /// What orders what is found.
    pub ranking: &'a RankingConfig,
    /// What must hold besides.
    pub filter: Option<Filter>,
    /// The types that there are: a model may name these.
    pub known_types: &'a [String],
    /// What the user wants forgotten: it is not presented any more, though it is not yet deleted.
    pub forgotten: &'a [Subject],
    /// The time of asking.
    pub now: Timestamp,
    /// Nobody waits longer.
    pub deadline: Instant,
}

/// Why there is no answer. The texts are ours and hold no content.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Neither vectors nor words could be searched.
    #[error("embedding failed and so did the search by words: {0}")]
    Embedding(StoreError),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// The store is known to be away, and was not asked.
    #[error("store unavailable: it cannot be reached now, memgate goes on trying")]
    Away,
    /// The time was up.
    #[error("deadline passed")]
    Deadline,
}

/// Everything recall needs.
#[derive(Clone)]
pub struct Recall {
    store: Arc<dyn MemoryStore>,
    pub(super) embedder: Arc<dyn Embedder>,
    space: Arc<str>,
    pub(super) models: Arc<Models>,
    /// Set by [`Recall::prepare`].
    everyday: Arc<OnceLock<Everyday>>,
    touches: Touches,
    held: Arc<HeldContexts>,
    /// The model that helps, where one is configured.
    pub(super) rewriter: Option<Rewriter>,
    pub(super) metrics: Arc<Metrics>,
}

/// What is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked<'a> {
    /// By its words, and by its meaning …
    pub(super) text: &'a str,
    /// … unless it is looked for as if this had been said.
    pub(super) as_if: Option<&'a str>,
}

impl Recall {
    /// Recall on a store with an embedder.
    #[must_use]
    pub fn new(
        store: Arc<dyn MemoryStore>,
        embedder: Arc<dyn Embedder>,
        models: Arc<Models>,
        touches: Touches,
        metrics: Arc<Metrics>,
    ) -> Self {
        let space = embedder.space().id().into();
        let (everyday, held) = (Arc::default(), Arc::default());
        Self { store, embedder, space, models, everyday, touches, held, rewriter: None, metrics }
    }

    /// With a model that helps to find.
    #[must_use]
    pub fn with_rewriter(self, rewriter: Option<Rewriter>) -> Self {
        Self { rewriter, ..self }
    }

    /// Embeds what cosines are compared with. Until then, and when that fails, questions in other
    /// languages than English find too much.
    ///
    /// # Errors
    /// [`EmbedError`] of the embedder.
    pub async fn prepare(&self) -> Result<(), EmbedError> {
        let everyday = Everyday::of(self.embedder.as_ref()).await?;
        // Prepared twice at the same time, both are the same.
        let _ = self.everyday.set(everyday);
        Ok(())
    }

    /// The contexts of open tool loops. Whoever forgets memories has them forgotten too.
    #[must_use]
    pub fn held(&self) -> &HeldContexts {
        &self.held
    }

    /// The context for one ask, and its memories counted as presented.
    ///
    /// # Errors
    /// [`Failure`]; the request then goes on without a context.
    pub async fn context(&self, request: &Request<'_>, budget: Budget) -> Result<Context, Failure> {
        let (hits, wishes) = tokio::join!(self.search(request), self.wishes(request, budget));
        let hits = profile::beside(&wishes, hits?);
        Ok(self.presented(&wishes, &hits, request, budget))
    }

    /// The context for an ask that memory cannot answer: how the user wants to be answered, and nothing
    /// else. A store that fails or is late makes it empty.
    pub async fn standing(&self, request: &Request<'_>, budget: Budget, why: Skip) -> Context {
        let wishes = self.wishes(request, budget).await;
        let context = self.presented(&wishes, &[], request, budget);
        Context { skipped: Some(why), ..context }
    }

    async fn wishes(&self, request: &Request<'_>, budget: Budget) -> Vec<Memory> {
        match budget.standing {
            0 => Vec::new(),
            _ => profile::wishes(self.store.as_ref(), request).await,
        }
    }

    fn presented(
        &self,
        wishes: &[Memory],
        hits: &[Hit],
        request: &Request<'_>,
        budget: Budget,
    ) -> Context {
        let started = std::time::Instant::now();
        let (query, now) = (request.query.text.as_str(), request.now);
        let mut context = Context::of(&Presented { wishes, hits, query, now }, budget);
        context.scores = Scored::shown(wishes, hits, &context.shown);
        self.metrics.phase(Phase::Context, started.elapsed());
        if context.shown.is_empty() {
            tracing::debug!("No memories above threshold");
        } else {
            self.metrics.presented(context.shown.len());
            tracing::info!("Memory: Retrieved {} memories", context.shown.len());
            self.touches.presented(request.owner, &context.shown, request.now);
        }
        context
    }

    /// The hits that pass the gate, best first.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn search(&self, request: &Request<'_>) -> Result<Vec<Hit>, Failure> {
        let hits = match self.helper(request.query) {
            Some(helper) => self.helped(request, helper).await?,
            None => self.gated(self.found(request).await?, request),
        };
        self.count(request.query, &hits);
        Ok(hits)
    }

    /// What of ranked hits is presented.
    pub(super) fn gated(&self, hits: Vec<Hit>, request: &Request<'_>) -> Vec<Hit> {
        gate(hits, request.terms, request.ranking, &self.models.relevance, &self.metrics)
    }

    /// All that was found, ranked, before threshold and limit.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn ranked(&self, request: &Request<'_>) -> Result<Vec<Hit>, Failure> {
        Ok(distinct(self.found(request).await?).collect())
    }

    /// What was found for the question and its parts, ranked. A part that fails is left out.
    pub(super) async fn found(&self, request: &Request<'_>) -> Result<Vec<Hit>, Failure> {
        let Query { text, statement, parts, .. } = request.query;
        let part = |part| self.candidates(request, Looked { text: part, as_if: None });
        let parts = join_all(parts.iter().map(|text| part(text)));
        let whole = self.candidates(request, Looked { text, as_if: statement.as_deref() });
        let (whole, parts) = tokio::join!(whole, parts);
        let mut parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.iter_mut().flatten().for_each(|hit| hit.parts.of_part = true);
        Ok(merged(std::iter::once(whole?).chain(parts).collect(), request.ranking.fusion))
    }

    /// Counts what the query's techniques did.
    fn count(&self, query: &Query, hits: &[Hit]) {
        for (technique, took) in &query.used {
            let counted = |hit: &&Hit| match technique {
                Technique::KeyTerms | Technique::Statements => true,
                Technique::Times => hit.parts.added.date > 0.0,
                Technique::Types => hit.parts.added.asked_type > 0.0,
                Technique::Parts => hit.parts.of_part,
                // Counted where they are used.
                Technique::Rewrite | Technique::Hyde | Technique::SelfQuery => false,
            };
            self.metrics.technique(*technique, *took, hits.iter().filter(counted).count());
        }
    }

    /// All that was found for a text, ranked, near-duplicates included.
    pub(super) async fn candidates(
        &self,
        request: &Request<'_>,
        Looked { text, as_if }: Looked<'_>,
    ) -> Result<Vec<Hit>, Failure> {
        if !self.store.is_enabled() {
            return Err(Failure::Away);
        }
        let aim = self.embed(request, as_if.unwrap_or(text)).await;
        let everyday = match (self.everyday.get(), &aim) {
            (Some(everyday), Some(aim)) => aim.cosine(everyday.nearness(&aim.vector.values)),
            _ => USUAL,
        };
        let search = Search {
            scopes: vec![ScopeQuery {
                project_id: request.project_id.map(str::to_owned),
                types: request.terms.types.clone(),
                ..ScopeQuery::of(request.owner.clone())
            }],
            filter: request.filter.clone(),
            vector: aim.as_ref().map(|aim| aim.vector.clone()),
            text: Some(text.to_owned()),
            limit: (request.terms.limit * OVER_FETCH).max(MIN_CANDIDATES),
            now: request.now,
        };
        let started = std::time::Instant::now();
        let found = timeout_at(request.deadline, self.store.retrieve(&search));
        let (found, mentioned) = tokio::join!(found, self.mentioned(request, text, &search));
        self.metrics.phase(Phase::Search, started.elapsed());
        let evidence = match found {
            Ok(Ok(evidence)) => evidence,
            Ok(Err(error)) if aim.is_some() => {
                return Err(self.failed(error, request.deadline).await);
            }
            Ok(Err(error)) => return Err(Failure::Embedding(error)),
            Err(_) => return Err(Failure::Deadline),
        };
        let evidence = self.with_mentioned(evidence, mentioned);
        let mut evidence = without_said(own(evidence, request.owner), request.said);
        evidence.retain(|found| !is_forgotten(request, &found.memory));
        if let Some(aim) = aim {
            let products = evidence.iter_mut().filter_map(|found| found.cosine.as_mut());
            products.for_each(|product| *product = aim.cosine(*product));
        }
        let asked = &request.query.asked;
        let relevance = &self.models.relevance;
        let question = Question { text, asked, everyday, relevance, now: request.now };
        Ok(rank(evidence, &question, request.ranking, &self.metrics))
    }

    /// The best of those that mention what the query names, and how long that took; none where that is switched off,
    /// fails or is late: what is nearest is there all the same.
    async fn mentioned(
        &self,
        request: &Request<'_>,
        text: &str,
        search: &Search,
    ) -> Option<(Vec<Evidence>, Duration)> {
        if !request.ranking.fetch_entities {
            return None;
        }
        let started = Instant::now();
        let names = Names::of(text).filter()?;
        let filter = Some(Filter::And(search.filter.iter().cloned().chain([names]).collect()));
        let search = Search { filter, limit: MENTIONED, ..search.clone() };
        let found = timeout_at(request.deadline, self.store.retrieve(&search)).await.ok()?.ok()?;
        Some((found, started.elapsed()))
    }

    /// Adds what was not found yet.
    fn with_mentioned(
        &self,
        mut evidence: Vec<Evidence>,
        mentioned: Option<(Vec<Evidence>, Duration)>,
    ) -> Vec<Evidence> {
        let Some((mentioned, took)) = mentioned else { return evidence };
        let known: HashSet<MemoryId> = evidence.iter().map(|it| it.memory.id.clone()).collect();
        let before = evidence.len();
        evidence.extend(mentioned.into_iter().filter(|it| !known.contains(&it.memory.id)));
        self.metrics.ranked(RankStep::EntityFetch, took, evidence.len() - before);
        evidence
    }

    /// What it means that the store failed: that it is away, or only that it failed here.
    async fn failed(&self, error: StoreError, deadline: Instant) -> Failure {
        if matches!(error, StoreError::Unavailable(_)) {
            // What it finds, the store knows from then on.
            let _ = timeout_at(deadline, self.store.check()).await;
        }
        if self.store.is_enabled() { Failure::Store(error) } else { Failure::Away }
    }

    /// What the query is searched near to, or nothing when the embedder fails or is late.
    async fn embed(&self, request: &Request<'_>, text: &str) -> Option<Aim> {
        let mut aim = match request.read.filter(|read| read.is_of(text)) {
            Some(read) => read.aim(&self.space),
            None => self.read(text, request.deadline).await.aim(&self.space),
        }?;
        if let Some(adapter) = &self.models.query_adapter {
            aim.vector.values = adapter.turn(&aim.vector.values);
        }
        Some(aim)
    }
}

/// Whether the user wants a memory forgotten, though it is not yet deleted.
pub(super) fn is_forgotten(request: &Request<'_>, memory: &Memory) -> bool {
    request.forgotten.iter().any(|it| !it.said_in(&memory.content).is_empty())
}

/// A second look at every row's owner, outside the store: a mistake in a query
/// language must not become somebody else's memory.
pub(super) fn own(evidence: Vec<Evidence>, owner: &Owner) -> Vec<Evidence> {
    let found = evidence.len();
    let own: Vec<_> = evidence.into_iter().filter(|e| e.memory.owner == *owner).collect();
    if own.len() != found {
        tracing::error!(rows = found - own.len(), "the store returned rows of another owner");
    }
    own
}
