//! The plan for one message: the decision, and the context by it. The gateway and `memgate eval` both recall this way,
//! so that what is measured is what is served.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    decide::{Decided, decide_with_embedding},
    decision::{DecidedBy, Decision, Message, RecallError, Skip},
    hit::Hit,
    pipeline,
    present::Context,
    query::{Query, build_query},
    request::RecallRequest,
    retrieve::{QueryEmbedding, Retrieval, is_told_of},
    services::Services,
    trail::Step,
};
use memgate_core::memory::{Filter, MemoryKind};
use memgate_telemetry::Phase;
use memgate_text::question::asking::asking;

/// A message that was decided on.
pub struct Plan<'a> {
    services: &'a Services,
    message: Message<'a>,
    request: &'a RecallRequest<'a>,
    decided: Decided,
}

impl<'a> Plan<'a> {
    /// Decides whether memory can help with a message.
    ///
    /// # Errors
    /// [`RecallError::Deadline`] when it can, and the deadline had passed before this began.
    pub(super) async fn of(
        services: &'a Services,
        message: Message<'a>,
        request: &'a RecallRequest<'a>,
    ) -> Result<Self, RecallError> {
        let began = Instant::now();
        let mut decided = decide_with_embedding(services, &message, request.deadline).await;
        let unsure = matches!(decided.by, DecidedBy::Lexical | DecidedBy::Model);
        if unsure
            && decided.decision == Decision::Skip(Skip::Fact)
            && (is_told_of(services, request, &asking(message.text)).await
                || fits_a_wish(services, request, message.text, decided.embedding.as_ref()).await)
        {
            decided = Decided { decision: Decision::Search, by: DecidedBy::Memory, ..decided };
        }
        let decided = decided.noted(&services.metrics);
        if let Some(trace) = request.trace {
            trace.decided(decided.by, decided.need);
            trace.step(Step::Decide, began.elapsed());
        }
        // Reading a large body may have taken all the time, and timers are too coarse to notice at once.
        if decided.decision == Decision::Search && began >= request.deadline {
            return Err(RecallError::Deadline);
        }
        Ok(Self { services, message, request, decided })
    }

    /// Why memory is not searched, where it is not.
    #[must_use]
    pub fn skipped(&self) -> Option<Skip> {
        match self.decided.decision {
            Decision::Search => None,
            Decision::Skip(why) => Some(why),
        }
    }

    /// Why nothing is presented at all, where that is known by now: neither hits nor preferences.
    #[must_use]
    pub fn silent(&self) -> Option<Skip> {
        let preferences = self.request.settings.budget.standing > 0;
        self.skipped().filter(|why| !(why.is_answered() && preferences))
    }

    /// Builds the query.
    #[must_use]
    pub fn query(&self) -> Query {
        let started = std::time::Instant::now();
        let RecallRequest { earlier, settings, .. } = self.request;
        let query = build_query(self.message.text, earlier, self.request.today(), settings.query);
        self.services.metrics.phase(Phase::Query, started.elapsed());
        if let Some(trace) = self.request.trace {
            trace.step(Step::Query, started.elapsed());
        }
        query
    }

    /// The context; its memories are counted as presented. Where a model can help, `extend` is asked whether the search
    /// may last so much longer than its deadline.
    ///
    /// # Errors
    /// [`RecallError`] of the search; preferences alone never fail.
    pub async fn context(
        &self,
        extend: impl FnOnce(Duration) -> bool,
    ) -> Result<Context, RecallError> {
        if let Some(why) = self.silent() {
            return Ok(Context::skipped(why));
        }
        if let Some(why) = self.skipped() {
            let text = asking(self.message.text);
            let request = self.request;
            let context = pipeline::context_of_preferences(self.services, request, &text, why);
            return Ok(context.await);
        }
        let mut query = self.query();
        if let Some(extra) = pipeline::extra_time(self.services, &query)
            && !extend(extra)
        {
            query.help = None;
        }
        let context = pipeline::context(self.services, &self.retrieval(&query)).await;
        if let Some(trace) = self.request.trace {
            trace.searched(query);
        }
        context
    }

    /// All candidates, ranked, before threshold and limit, whether or not the decision is to search.
    ///
    /// # Errors
    /// [`RecallError`].
    pub async fn ranked(&self) -> Result<Vec<Hit>, RecallError> {
        pipeline::ranked(self.services, &self.retrieval(&self.query())).await
    }

    fn retrieval<'q>(&'q self, query: &'q Query) -> Retrieval<'q> {
        Retrieval { request: self.request, query, embedding: self.decided.embedding.as_ref() }
    }
}

/// Whether a message is about the topic of one of the user's wishes ("when I ask about recipes, give grams"). A store that fails
/// or is late knows of none.
async fn fits_a_wish(
    services: &Services,
    request: &RecallRequest<'_>,
    text: &str,
    embedding: Option<&QueryEmbedding>,
) -> bool {
    let wishes = Filter::Kind(vec![MemoryKind::Wish]);
    let filter = match &request.filter {
        Some(filter) => Filter::And(vec![filter.clone(), wishes]),
        None => wishes,
    };
    let of_wishes =
        RecallRequest { filter: Some(filter), trace: None, reader: None, ..request.clone() };
    let query = build_query(text, request.earlier, request.today(), request.settings.query);
    let retrieval = Retrieval { request: &of_wishes, query: &query, embedding };
    let fits =
        |hit: &Hit| hit.memory.wish_topic().is_some() && hit.score >= request.selection.threshold;
    pipeline::ranked(services, &retrieval).await.is_ok_and(|hits| hits.iter().any(fits))
}

#[cfg(test)]
mod tests;
