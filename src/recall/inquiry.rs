//! One message's whole way: decision → query → search → context. Who answers requests and who measures how well go it
//! here, so they go the same. It must never know which of them asks.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    Budget, Context, Decided, Decision, Failure, Hit, Message, Query, Recall, Request, Skip, Terms,
    build_query, query::asking,
};
use crate::{config::MemoryConfig, memory::Owner, signals::Subject, telemetry::Phase};

/// A user's message that memory may help to answer.
#[derive(Clone, Copy, Debug)]
pub struct Inquiry<'a> {
    /// Whose memories.
    pub owner: &'a Owner,
    /// With a project: its memories and those of no project.
    pub project_id: Option<&'a str>,
    /// The message; not empty.
    pub message: Message<'a>,
    /// The user's messages before it, oldest first, which the model is shown anyway.
    pub earlier: &'a [&'a str],
    /// How much is presented, of what.
    pub terms: &'a Terms,
    /// How it is searched and written.
    pub config: &'a MemoryConfig,
    /// What the user wants forgotten.
    pub forgotten: &'a [Subject],
    /// The time of asking.
    pub now: Timestamp,
    /// Nobody waits longer, unless for a model that helps.
    pub deadline: Instant,
}

/// A message that was decided on.
pub struct Considered<'a> {
    recall: &'a Recall,
    inquiry: &'a Inquiry<'a>,
    decided: Decided,
}

impl Recall {
    /// Decides whether memory can help.
    ///
    /// # Errors
    /// [`Failure::Deadline`] when it could, and the time was up before this began.
    pub async fn consider<'a>(
        &'a self,
        inquiry: &'a Inquiry<'a>,
    ) -> Result<Considered<'a>, Failure> {
        let began = Instant::now();
        let decided = self.decide(&inquiry.message, inquiry.deadline).await;
        // Reading a large body may have taken it all, and timers are too coarse to tell at once.
        if decided.decision == Decision::Search && began >= inquiry.deadline {
            return Err(Failure::Deadline);
        }
        Ok(Considered { recall: self, inquiry, decided })
    }
}

impl Considered<'_> {
    /// Why memory is not searched, where it is not.
    #[must_use]
    pub fn skipped(&self) -> Option<Skip> {
        match self.decided.decision {
            Decision::Search => None,
            Decision::Skip(why) => Some(why),
        }
    }

    /// Why nothing is presented at all, where that is sure by now: neither hits nor how the user wants to be answered.
    #[must_use]
    pub fn silent(&self) -> Option<Skip> {
        let standing = self.inquiry.config.preferences.max_tokens > 0;
        self.skipped().filter(|why| !(why.is_answered() && standing))
    }

    /// What is searched for.
    #[must_use]
    pub fn query(&self) -> Query {
        let started = std::time::Instant::now();
        let Inquiry { message, earlier, config, now, .. } = self.inquiry;
        let query = build_query(message.text, earlier, *now, &config.query);
        self.recall.metrics.phase(Phase::Query, started.elapsed());
        query
    }

    /// The context, and its memories counted as presented. `may_last` is asked where a model could help: whether the
    /// search may last so much longer than its deadline.
    ///
    /// # Errors
    /// [`Failure`] of the search; what the user always wants alone never fails.
    pub async fn context(
        &self,
        may_last: impl FnOnce(Duration) -> bool,
    ) -> Result<Context, Failure> {
        let Inquiry { message, config, .. } = self.inquiry;
        let budget =
            Budget { context: config.max_context_tokens, standing: config.preferences.max_tokens };
        if let Some(why) = self.silent() {
            return Ok(Context { skipped: Some(why), ..Context::default() });
        }
        if let Some(why) = self.skipped() {
            let query = Query { text: asking(message.text), ..Query::default() };
            return Ok(self.recall.standing(&self.request(&query), budget, why).await);
        }
        let mut query = self.query();
        if let Some(extra) = self.recall.extra_time(&query)
            && !may_last(extra)
        {
            query.help = None;
        }
        self.recall.context(&self.request(&query), budget).await
    }

    /// All that a search finds, ranked, before threshold and limit, whether or not it was decided to search.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn ranked(&self) -> Result<Vec<Hit>, Failure> {
        self.recall.ranked(&self.request(&self.query())).await
    }

    fn request<'a>(&'a self, query: &'a Query) -> Request<'a> {
        let Inquiry { owner, project_id, earlier, terms, config, forgotten, now, deadline, .. } =
            *self.inquiry;
        Request {
            owner,
            project_id,
            query,
            read: self.decided.read.as_ref(),
            said: earlier,
            terms,
            ranking: &config.ranking,
            filter: None,
            known_types: &config.types,
            forgotten,
            now,
            deadline,
        }
    }
}

#[cfg(test)]
mod tests;
