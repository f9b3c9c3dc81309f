//! Replays a scenario: its sessions are learned from at their own dates, then its question is asked
//! as a client would.

use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    api::{Operations, read::requests::JobsRequest},
    cli::eval::parse,
};
use memgate_capture::{Circumstances, FinishedTurn};
use memgate_config::MemoryConfig;
use memgate_core::memory::Owner;
use memgate_dialect::{Dialect, Ending, Reply, Role};
use memgate_recall::{Context, Hit, Message, RecallRequest, Selection, signals::Earlier};

/// Timeout of one session's jobs and of one search. Evaluations measure quality, not speed: a slow
/// machine must not change the results.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Simulated time between two turns of a session.
const BETWEEN_TURNS: SignedDuration = SignedDuration::from_mins(1);

/// A row of a scenarios file.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Scenario {
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

    /// The same question after other turns of a conversation.
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

/// The result of asking a scenario's question.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    /// The context for the model.
    pub(super) context: String,
    /// The lines of the presented memories in lower case, without the fence.
    pub(super) presented: String,
    /// Number of presented memories.
    pub(super) shown: usize,
    /// All candidates, ranked, before threshold and limit. Empty if the search was skipped.
    pub(super) ranked: Vec<Hit>,
    /// The search query.
    pub(super) query: String,
    /// Whether memory was searched.
    pub(super) searched: bool,
}

/// Learns a scenario's sessions as a user's memory.
///
/// # Errors
/// When a part of memory fails or times out.
pub(super) async fn tell(memory: &Operations, owner: &Owner, scenario: &Scenario) -> Result<()> {
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
pub(super) async fn say(memory: &Operations, owner: &Owner, text: &str) -> Result<()> {
    let turn = Turn { user: text.to_owned(), assistant: "All right.".to_owned() };
    learn(memory, owner, "message", Timestamp::now(), &[turn]).await
}

/// Asks a scenario's question, as the gateway would.
///
/// # Errors
/// When a part of memory fails.
pub(super) async fn ask(
    memory: &Operations,
    config: &MemoryConfig,
    owner: &Owner,
    scenario: &Scenario,
) -> Result<Recalled> {
    let Question { date, turns, user } = &scenario.ask;
    let request = memgate_dialect::read(Dialect::Chat, &request(turns, user))?;
    let ask = request.ask();
    let text = ask.user_text.as_deref().unwrap_or_default();
    let said = ask.history.iter().filter(|said| said.role == Role::User);
    let earlier: Vec<&str> = said.map(|said| said.text.as_str()).collect();
    let selection = selection(config);
    let request =
        RecallRequest { earlier: &earlier, ..recall_request(owner, config, &selection, *date) };
    let plan = memory.recall.plan(silent_message(text), &request).await?;
    let searched = plan.skipped().is_none();
    let ranked = if searched { plan.ranked().await? } else { Vec::new() };
    let context = plan.context(|_| true).await?;
    let (presented, shown) = (lines(&context), context.shown.len());
    let query = plan.query().text;
    Ok(Recalled { context: context.text, presented, shown, ranked, query, searched })
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
        project_id: None,
        earlier: &[],
        selection,
        settings: config.recall_settings(),
        filter: None,
        forgotten: &[],
        now,
        deadline: Instant::now() + PATIENCE,
    }
}

/// Offers the turns of a session to capture and waits until they are memories.
async fn learn(
    memory: &Operations,
    owner: &Owner,
    session: &str,
    date: Timestamp,
    turns: &[Turn],
) -> Result<()> {
    for (number, turn) in turns.iter().enumerate() {
        let began = date + BETWEEN_TURNS * i32::try_from(number)?;
        let ask = memgate_dialect::read(Dialect::Chat, &request(&turns[..number], &turn.user))?;
        let of = Circumstances {
            owner: owner.clone(),
            project_id: None,
            agent_id: None,
            session_header: Some(session.to_owned()),
            request_id: None,
            began,
            ended: began,
            ends_session: false,
            learn: true,
        };
        let Some(finished) = FinishedTurn::new(ask.ask(), reply(&turn.assistant), of) else {
            bail!("a turn of {session} cannot be learned from");
        };
        let flight = memory.capture.exchange_begins();
        flight.known(owner);
        memory.capture.offer(finished, flight);
    }
    let flushed = memory.capture.flush(owner, PATIENCE).await?;
    if flushed.jobs_pending + flushed.jobs_dead > 0 {
        let why = why_not(memory, owner).await?;
        ensure!(flushed.jobs_dead == 0, "{session} cannot be learned from{why}");
        bail!("{session} was not learned from within {} s{why}", PATIENCE.as_secs());
    }
    Ok(())
}

/// The error of the last failed job; usually an unavailable model.
async fn why_not(memory: &Operations, owner: &Owner) -> Result<String> {
    let jobs = JobsRequest {
        user_id: owner.user().to_owned(),
        tenant_id: None,
        state: None,
        limit: None,
        cursor: None,
    };
    let jobs = memory.jobs(&jobs).await.map_err(|error| anyhow!("{}", error.message))?;
    let error = jobs.jobs.into_iter().find_map(|job| job.last_error);
    Ok(error.map(|error| format!(": {error}")).unwrap_or_default())
}

/// The body of a Chat Completions request.
fn request(before: &[Turn], user: &str) -> Vec<u8> {
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
#[expect(clippy::unwrap_used, reason = "a test may panic")]
pub(super) mod tests {
    use std::{path::Path, sync::Arc};

    use super::*;
    use memgate_capture::{Bounds, Capture, Least, Retention, SessionRules, Settings, Tools};
    use memgate_config::{Config, Live};
    use memgate_core::memory::{MemoryStore, MemoryType};
    use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
    use memgate_models::Models;
    use memgate_recall::{AccessTracker, Recall};
    use memgate_sqlite::Options;
    use memgate_store::InMemoryStore;
    use memgate_telemetry::Metrics;

    /// A memory with no file but the journal, and an embedder without a model.
    pub(crate) fn memory(folder: &Path) -> Operations {
        let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::default());
        let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(256));
        let metrics = Metrics::new();
        let settings = Settings {
            store_turns: true,
            extract_locally: false,
            extractor: None,
            extract_every: 10,
            sessions: SessionRules::default(),
            least: Least::default(),
            retention: Retention::default(),
            forget_grace: Duration::ZERO,
            policy: memgate_capture::Policy::default(),
            types: MemoryType::BUILT_IN.map(str::to_owned).to_vec(),
        };
        let models = Models::for_embedder(embedder.space()).unwrap();
        let tools = Tools {
            store: store.clone(),
            embedder: embedder.clone(),
            models: models.clone(),
            metrics: metrics.clone(),
        };
        let bounds = Bounds { queue: 64, workers: 1 };
        let journal = folder.join("journal.db");
        let capture = Capture::open(&journal, Options::default(), bounds, settings, tools).unwrap();
        let (access, _) = AccessTracker::new(store.clone());
        Operations {
            config: Live::fixed(Config::default()),
            recall: Recall::new(store.clone(), embedder.clone(), models, access, metrics.clone()),
            store,
            embedder,
            capture: Arc::new(capture),
            metrics,
        }
    }

    pub(crate) fn scenario(ask: &str) -> Scenario {
        serde_json::from_value(json!({
            "id": "s1", "lang": "en", "kind": "temporal",
            "sessions": [
                {"date": "2026-02-09T10:00:00Z", "turns": [
                    {"user": "My dog Rex got his rabies vaccination", "assistant": "Good boy, Rex."},
                    {"user": "thanks", "assistant": "You are welcome!"},
                ]},
                {"date": "2026-03-01T10:00:00Z", "turns": [
                    {"user": "Where is Oslo?", "assistant": "In Norway."},
                ]},
            ],
            "ask": {"date": "2026-05-01T10:00:00Z", "turns": [], "user": ask},
            "must_recall": [["2026-02-09"]], "must_not_recall": [],
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn a_scenario_is_learned_at_its_own_dates() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, config) = (memory(folder.path()), MemoryConfig::default());
        let scenario = scenario("My dog Rex got his rabies vaccination when?");
        let owner = Owner::of_user("u").unwrap();
        tell(&memory, &owner, &scenario).await.unwrap();
        let recalled = ask(&memory, &config, &owner, &scenario).await.unwrap();
        assert!(recalled.searched);
        assert_eq!(recalled.shown, 1, "greetings and bare questions are no memories");
        assert!(recalled.presented.starts_with("- [2026-02-09] user: my dog rex"));
        assert_eq!(recalled.ranked.len(), 1);
        memory.capture.shutdown(PATIENCE).await;
    }

    #[tokio::test]
    async fn a_skipped_question_is_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, config) = (memory(folder.path()), MemoryConfig::default());
        let owner = Owner::of_user("u").unwrap();
        let recalled = ask(&memory, &config, &owner, &scenario("hello!")).await.unwrap();
        assert!(!recalled.searched && recalled.ranked.is_empty() && recalled.presented.is_empty());
        memory.capture.shutdown(PATIENCE).await;
    }
}
