//! Replays a scenario: its sessions are learned from at their own dates, then its question is asked
//! as a client would.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{evaluation::Services, parse};
use memgate_capture::{Circumstances, FinishedTurn, JobQuery};
use memgate_config::MemoryConfig;
use memgate_core::memory::{Memory, Owner, Within};
use memgate_dialect::{Dialect, Ending, Reply, Role};
use memgate_recall::{Context, Hit, Message, RecallRequest, Selection, Skip, signals::Earlier};

/// Timeout of one session's jobs and of one search. Evaluations measure quality, not speed: a slow
/// machine must not change the results.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Number of memories that are read from the store at once.
const PAGE: usize = 500;
/// Number of jobs that are searched for an error.
const JOBS: usize = 20;
/// Simulated time between two turns of a session.
pub(super) const BETWEEN_TURNS: SignedDuration = SignedDuration::from_mins(1);

/// A row of a scenarios file.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    pub(super) id: String,
    pub(super) lang: String,
    pub(super) kind: String,
    #[serde(deserialize_with = "parse::objects")]
    sessions: Vec<Session>,
    #[serde(deserialize_with = "parse::object")]
    ask: Question,
    /// Needed items; at least one alternative of each must be presented.
    pub(super) must_recall: Vec<Vec<String>>,
    /// Texts that must not be presented.
    pub(super) must_not_recall: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Session {
    #[serde(deserialize_with = "parse::time")]
    date: Timestamp,
    #[serde(deserialize_with = "parse::objects")]
    turns: Vec<Turn>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) user: String,
    pub(super) assistant: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Question {
    #[serde(deserialize_with = "parse::time")]
    date: Timestamp,
    #[serde(deserialize_with = "parse::objects")]
    turns: Vec<Turn>,
    user: String,
}

impl Scenario {
    /// The user's messages, session by session.
    pub(super) fn told(&self) -> Vec<Vec<&str>> {
        let turns = self.sessions.iter().map(|session| session.turns.iter());
        turns.map(|turns| turns.map(|turn| turn.user.as_str()).collect()).collect()
    }

    /// Whether a message contains the needed value and an older sentence the outdated one.
    pub(super) fn is_over(&self, old: &str, message: &str) -> bool {
        let (old, message) = (old.to_lowercase(), message.to_lowercase());
        self.kind == "update"
            && self.must_not_recall.iter().any(|words| old.contains(words))
            && self.must_recall.iter().flatten().any(|words| message.contains(words))
    }

    /// The scenario with its question after other turns of a conversation.
    pub(super) fn within(&self, before: &[Turn]) -> Self {
        let ask = Question { turns: before.to_owned(), ..self.ask.clone() };
        Self { ask, ..self.clone() }
    }

    /// The question with a reply of the scenario, as it has none of its own.
    pub(super) fn as_turn(&self) -> Turn {
        let first = self.sessions.iter().flat_map(|session| &session.turns).next();
        let assistant = first.map(|turn| turn.assistant.clone()).unwrap_or_default();
        Turn { user: self.ask.user.clone(), assistant }
    }
}

/// The result of a question.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    /// The context for the model.
    pub(super) context: Context,
    /// All candidates with their relevance, best first, before threshold and limit; only where they are asked for.
    pub(super) ranked: Vec<Hit>,
    /// The search query.
    pub(super) query: String,
    /// Why memory was not searched.
    pub(super) skipped: Option<Skip>,
}

/// Learns a scenario's sessions as a user's memory.
///
/// # Errors
/// When a part of memory fails or times out.
pub(super) async fn tell(memory: &Services, owner: &Owner, scenario: &Scenario) -> Result<()> {
    for (number, session) in scenario.sessions.iter().enumerate() {
        let name = format!("{}-{number}", scenario.id);
        learn(memory, owner, &name, session.date, &session.turns).await?;
    }
    // The turns before the question are memories, too, when it is asked.
    let Question { date, turns, .. } = &scenario.ask;
    let began = *date - BETWEEN_TURNS * i32::try_from(turns.len())?;
    learn(memory, owner, &format!("{}-ask", scenario.id), began, turns).await
}

/// Learns one message, with a short reply.
///
/// # Errors
/// When a part of memory fails or times out.
pub(super) async fn say(memory: &Services, owner: &Owner, text: &str) -> Result<()> {
    let turn = Turn { user: text.to_owned(), assistant: "All right.".to_owned() };
    learn(memory, owner, "message", memory.clock.now(), &[turn]).await
}

/// Asks a scenario's question.
///
/// # Errors
/// When a part of memory fails.
pub(super) async fn ask(memory: &Services, owner: &Owner, scenario: &Scenario) -> Result<Recalled> {
    let Question { date, turns, user } = &scenario.ask;
    let mut recalled = question(memory, owner, *date, turns, user, true).await?;
    if recalled.skipped.is_some() {
        recalled.ranked.clear();
    }
    Ok(recalled)
}

/// Asks a question after the turns of a conversation, at a time, as the gateway would. `ranked`: the candidates are asked for.
///
/// # Errors
/// When a part of memory fails.
pub(super) async fn question(
    memory: &Services,
    owner: &Owner,
    at: Timestamp,
    before: &[Turn],
    user: &str,
    ranked: bool,
) -> Result<Recalled> {
    let config = &memory.config;
    memory.time.set(at);
    let request = memgate_dialect::read(Dialect::Chat, &request(before, user))?;
    let ask = request.ask();
    let text = ask.user_text.as_deref().unwrap_or_default();
    let said = ask.history.iter().filter(|said| said.role == Role::User);
    let earlier: Vec<&str> = said.map(|said| said.text.as_str()).collect();
    let selection = selection(config);
    let request =
        RecallRequest { earlier: &earlier, ..recall_request(owner, config, &selection, at) };
    let plan = memory.recall.plan(silent_message(text), &request).await?;
    let skipped = plan.skipped();
    let ranked = if ranked { plan.ranked().await? } else { Vec::new() };
    let context = plan.context(|_| true).await?;
    Ok(Recalled { context, ranked, query: plan.query().text, skipped })
}

/// The default limits of a request.
pub(super) fn selection(config: &MemoryConfig) -> Selection {
    Selection {
        limit: config.default_retrieval_limit,
        threshold: config.default_similarity_threshold,
        types: Vec::new(),
    }
}

/// A message without signals of other filters.
pub(super) fn silent_message(text: &str) -> Message<'_> {
    Message { text, signals: &Earlier::SILENT, tools_offered: false }
}

/// A request with one message and nothing else relevant to memory.
pub(super) fn recall_request<'a>(
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

/// Offers the turns of a session to capture and waits until they are memories.
pub(super) async fn learn(
    memory: &Services,
    owner: &Owner,
    session: &str,
    date: Timestamp,
    turns: &[Turn],
) -> Result<()> {
    // The session is learned from when it ends, whatever order its jobs take.
    let last = i32::try_from(turns.len().saturating_sub(1))?;
    memory.time.set(date + BETWEEN_TURNS * last);
    for (number, turn) in turns.iter().enumerate() {
        let began = date + BETWEEN_TURNS * i32::try_from(number)?;
        let body = request(&turns[..number], &turn.user);
        offer(memory, owner, session, began, &body, &turn.assistant)?;
    }
    finish(memory, owner, session).await
}

/// Learns from one request, given as its body, and its reply.
///
/// # Errors
/// When a part of memory fails or times out.
pub(super) async fn learn_body(
    memory: &Services,
    owner: &Owner,
    session: &str,
    body: &[u8],
    assistant: &str,
) -> Result<()> {
    offer(memory, owner, session, memory.clock.now(), body, assistant)?;
    finish(memory, owner, session).await
}

fn offer(
    memory: &Services,
    owner: &Owner,
    session: &str,
    began: Timestamp,
    body: &[u8],
    assistant: &str,
) -> Result<()> {
    let ask = memgate_dialect::read(Dialect::Chat, body)?;
    let of = Circumstances {
        owner: owner.clone(),
        project_id: None,
        agent_id: None,
        session_header: Some(session.to_owned()),
        request_id: None,
        began,
        ended: began,
        zone: TimeZone::UTC,
        ends_session: false,
        learn: true,
    };
    let Some(finished) = FinishedTurn::new(ask.ask(), reply(assistant), of) else {
        bail!("a turn of {session} cannot be learned from");
    };
    let flight = memory.capture.exchange_begins();
    flight.known(owner);
    memory.capture.offer(finished, flight);
    Ok(())
}

/// Waits until everything offered is memories.
async fn finish(memory: &Services, owner: &Owner, session: &str) -> Result<()> {
    let flushed = memory.capture.flush(owner, PATIENCE).await?;
    if flushed.jobs_pending + flushed.jobs_dead > 0 {
        let why = why_not(memory, owner).await?;
        ensure!(flushed.jobs_dead == 0, "{session} cannot be learned from{why}");
        bail!("{session} was not learned from within {} s{why}", PATIENCE.as_secs());
    }
    Ok(())
}

/// The error of the last failed job; usually an unavailable model.
async fn why_not(memory: &Services, owner: &Owner) -> Result<String> {
    let query = JobQuery { owner: Some(owner.clone()), state: None, before: None, limit: JOBS };
    let jobs = memory.capture.jobs(query).await?;
    let error = jobs.into_iter().find_map(|job| job.last_error);
    Ok(error.map(|error| format!(": {error}")).unwrap_or_default())
}

/// Everything in an owner's store, oldest first, whatever its status.
///
/// # Errors
/// When the store fails.
pub(super) async fn stored(memory: &Services, owner: &Owner) -> Result<Vec<Memory>> {
    let (mut memories, mut after) = (Vec::new(), None);
    loop {
        let scan = memory.store.scan(Some(owner), after.as_deref(), PAGE).await?;
        memories.extend(scan.found.into_iter().map(|whole| whole.memory));
        after = scan.next;
        if after.is_none() {
            break;
        }
    }
    memories.sort_by(|a, b| (a.created_at, a.text()).cmp(&(b.created_at, b.text())));
    Ok(memories)
}

/// The body of a Chat Completions request.
pub(super) fn request(before: &[Turn], user: &str) -> Vec<u8> {
    json!({"model": "m", "messages": messages(before, user)}).to_string().into_bytes()
}

/// The messages of a conversation.
pub(super) fn messages(before: &[Turn], user: &str) -> Vec<Value> {
    let before = before
        .iter()
        .flat_map(|turn| [message("user", &turn.user), message("assistant", &turn.assistant)]);
    before.chain([message("user", user)]).collect()
}

pub(super) fn message(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

fn reply(text: &str) -> Reply {
    Reply {
        response_id: None,
        model: None,
        text: text.to_owned(),
        refusal: None,
        tool_calls: Vec::new(),
        outcome: Ending::Complete,
        usage: None,
        items: Vec::new(),
    }
}

/// The memories of a context in lower case, without labels.
pub(super) fn lines(context: &Context) -> String {
    let lines = context.text.lines().filter(|line| line.starts_with("- "));
    lines.collect::<Vec<_>>().join("\n").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{scenario, services};

    #[tokio::test]
    async fn a_scenario_is_learned_at_its_own_dates() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let scenario = scenario("My dog Rex got his rabies vaccination when?");
        let owner = Owner::of_user("u").unwrap();
        tell(&memory, &owner, &scenario).await.unwrap();
        let recalled = ask(&memory, &owner, &scenario).await.unwrap();
        assert_eq!(recalled.skipped, None);
        let shown = recalled.context.shown.len();
        assert_eq!(shown, 1, "greetings and bare questions are no memories");
        assert!(lines(&recalled.context).starts_with("- [2026-02-09] my dog rex"));
        assert_eq!(recalled.ranked.len(), 1);
        memory.capture.shutdown(PATIENCE).await;
    }

    #[tokio::test]
    async fn a_skipped_question_is_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let owner = Owner::of_user("u").unwrap();
        let recalled = ask(&memory, &owner, &scenario("hello!")).await.unwrap();
        assert!(recalled.skipped.is_some() && recalled.ranked.is_empty());
        assert!(recalled.context.text.is_empty());
        memory.capture.shutdown(PATIENCE).await;
    }
}
