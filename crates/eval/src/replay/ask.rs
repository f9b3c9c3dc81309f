//! Asks a question as a client would, through the gateway's way from the request's body to the context.

use std::time::Duration;

use anyhow::Result;
use jiff::{Timestamp, tz::TimeZone};
use tokio::time::Instant;

use super::body::{Turn, request};
use crate::evaluation::Services;
use memgate_config::MemoryConfig;
use memgate_core::memory::{Owner, Within};
use memgate_dialect::{Dialect, Role};
use memgate_recall::{Context, Hit, Message, RecallRequest, Selection, Skip, signals::Earlier};

/// Timeout of one session's jobs and of one search. Evaluations measure quality, not speed: a slow
/// machine must not change the results.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The result of a question.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    /// The context for the model.
    pub(crate) context: Context,
    /// All candidates with their relevance, best first, before threshold and limit; only where they are asked for.
    pub(crate) ranked: Vec<Hit>,
    /// The search query.
    pub(crate) query: String,
    /// Why memory was not searched.
    pub(crate) skipped: Option<Skip>,
    /// The duration of embedding, search and ranking.
    pub(crate) took: Duration,
}

/// A message that a user sends in a conversation.
pub(crate) struct Asked<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) at: Timestamp,
    /// The turns before the message.
    pub(crate) before: &'a [Turn],
    pub(crate) user: &'a str,
    pub(crate) selection: Selection,
    /// Whether the candidates are asked for.
    pub(crate) ranked: bool,
}

impl Asked<'_> {
    /// Asks as the gateway would: reads the request, searches and writes the context.
    ///
    /// # Errors
    /// When a part of memory fails.
    pub(crate) async fn recall(&self, memory: &Services) -> Result<Recalled> {
        let Self { owner, at, before, user, ref selection, ranked } = *self;
        memory.time.set(at);
        let request = memgate_dialect::read(Dialect::Chat, &request(before, user))?;
        let ask = request.ask();
        let text = ask.user_text.as_deref().unwrap_or_default();
        let said = ask.history.iter().filter(|said| said.role == Role::User);
        let earlier: Vec<&str> = said.map(|said| said.text.as_str()).collect();
        let request = RecallRequest {
            earlier: &earlier,
            ..recall_request(owner, &memory.config, selection, at)
        };
        let message = Message { text, signals: &Earlier::SILENT, tools_offered: false };
        let began = Instant::now();
        let plan = memory.recall.plan(message, &request).await?;
        let skipped = plan.skipped();
        let ranked = if ranked { plan.ranked().await? } else { Vec::new() };
        let took = began.elapsed();
        let context = plan.context(|_| true).await?;
        Ok(Recalled { context, ranked, query: plan.query().text, skipped, took })
    }
}

/// The default limits of a request.
pub(crate) fn selection(config: &MemoryConfig) -> Selection {
    Selection {
        limit: config.default_retrieval_limit,
        threshold: config.default_similarity_threshold,
        types: Vec::new(),
    }
}

/// A request with one message and nothing else relevant to memory.
pub(crate) fn recall_request<'a>(
    owner: &'a Owner,
    config: &'a MemoryConfig,
    selection: &'a Selection,
    now: Timestamp,
) -> RecallRequest<'a> {
    RecallRequest {
        owner,
        projects: &Within::None,
        agents: &Within::None,
        session: None,
        reader: None,
        earlier: &[],
        selection,
        settings: config.recall_settings(),
        filter: None,
        forgotten: &[],
        now,
        zone: TimeZone::UTC,
        deadline: Instant::now() + PATIENCE,
        trace: None,
    }
}

/// The memories of a context in lower case, without labels.
pub(crate) fn lines(context: &Context) -> String {
    let lines = context.text.lines().filter(|line| line.starts_with("- "));
    lines.collect::<Vec<_>>().join("\n").to_lowercase()
}
