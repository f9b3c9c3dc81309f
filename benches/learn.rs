//! The cost of learning as memgate learns by default: with the embedding model, turns and statements, two jobs at a time.
//! Each message of testdata/conversations is searched for and then learned from, as a request and its turn are. First as
//! fast as it goes, by many users and by one talkative user, whose jobs run one after the other; then ten turns a second,
//! to see when all that a turn leads to is a memory. Needs `cargo xtask assets`.
//!
//! `cargo bench --bench learn` (with `-- N` for the first N turns).
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may panic and prints")]

#[path = "shared/ask.rs"]
mod ask;
#[path = "shared/model.rs"]
mod model;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memgate_capture::{
    Bounds, Capture, Circumstances, FinishedTurn, JobQuery, JobStanding, Settings,
};
use memgate_config::Config;
use memgate_core::{clock::Clock, memory::Owner};
use memgate_dialect::{Ask, Ending, Reply, Role, Utterance};
use memgate_embed::cache::Cached;
use memgate_store::{SqliteOptions, SqliteStore};
use memgate_testing::{World, WorldOptions};
use serde::Deserialize;
use tokio::task::JoinSet;

use ask::ask;
use model::{config, embedder};

/// The longest wait for jobs.
const PATIENCE: Duration = Duration::from_secs(600);
/// The pause between two turns, and how many there are at most, where they come one after the other.
const PAUSE: Duration = Duration::from_millis(100);
const PACED: usize = 600;
/// The pause between two looks at a turn's jobs.
const LOOK: Duration = Duration::from_millis(5);
/// Jobs that wait for something else than the turn.
const LATER: [&str; 2] = ["end_idle_session", "erase_forgotten"];

#[derive(Deserialize)]
struct Conversations {
    id: String,
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Session {
    turns: Vec<Said>,
}

#[derive(Clone, Deserialize)]
struct Said {
    user: String,
    assistant: String,
}

/// A turn at its place in a session.
#[derive(Clone)]
struct Turn {
    owner: Owner,
    session: String,
    ordinal: u32,
    before: Option<Said>,
    said: Said,
}

impl Turn {
    fn finished(&self) -> FinishedTurn {
        let utterance = |role, text: String| Utterance { role, text };
        let history = self.before.clone().map_or_else(Vec::new, |it| {
            vec![utterance(Role::User, it.user), utterance(Role::Assistant, it.assistant)]
        });
        let ask = Ask {
            user_text: Some(self.said.user.clone()),
            user_ordinal: self.ordinal,
            history,
            ..Ask::default()
        };
        let reply = Reply {
            response_id: None,
            model: Some("m".to_owned()),
            text: self.said.assistant.clone(),
            refusal: None,
            tool_calls: Vec::new(),
            outcome: Ending::Complete,
            usage: None,
            items: Vec::new(),
        };
        let of = Circumstances {
            owner: self.owner.clone(),
            project_id: None,
            agent_id: None,
            session_header: Some(self.session.clone()),
            request_id: None,
            began: Clock::System.now(),
            ended: Clock::System.now(),
            zone: jiff::tz::TimeZone::UTC,
            ends_session: false,
            learn: true,
        };
        FinishedTurn::new(&ask, reply, of).unwrap()
    }
}

/// The turns of all users, taking turns.
fn turns() -> Vec<Turn> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/conversations");
    let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|it| it.extension().is_some_and(|it| it == "jsonl")).collect();
    files.sort();
    let mut numbered = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            numbered.extend(turns_of(serde_json::from_str(line).unwrap()).into_iter().enumerate());
        }
    }
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, turn)| turn).collect()
}

fn turns_of(user: Conversations) -> Vec<Turn> {
    let owner = Owner::of_user(&user.id).unwrap();
    let mut turns = Vec::new();
    for (number, session) in user.sessions.into_iter().enumerate() {
        let (mut before, mut ordinal) = (None, 0);
        for said in session.turns {
            ordinal += 1;
            let (owner, session) = (owner.clone(), format!("{}-{number}", user.id));
            turns.push(Turn { owner, session, ordinal, before, said: said.clone() });
            before = Some(said);
        }
    }
    turns
}

async fn open(folder: &Path, config: &Config, queue: usize) -> World {
    let store = SqliteStore::open(&folder.join("m.db"), SqliteOptions::default()).unwrap();
    let entries = NonZeroUsize::new(config.memory.embedding.cache_entries).unwrap();
    let options = WorldOptions {
        store: Arc::new(store),
        embedder: Arc::new(Cached::new(embedder(config), entries)),
        settings: Settings { extract_locally: true, ..Settings::default() },
        bounds: Bounds { queue, workers: config.memory.capture.workers },
        ..WorldOptions::default()
    };
    let path = folder.to_owned();
    tokio::task::spawn_blocking(move || World::open(&path, options)).await.unwrap()
}

async fn close(world: World) {
    world.capture.shutdown(Duration::from_secs(10)).await;
    world.embedder.close().await;
}

/// A request, and then its turn.
async fn serve(world: &World, config: &Config, turn: &Turn) {
    let flight = world.capture.exchange_begins();
    ask(&world.recall, config, &turn.owner, &turn.said.user, None).await;
    world.capture.offer(turn.finished(), flight);
}

/// Seconds until the last request is answered, and until the last turn is learned.
async fn as_fast_as_it_goes(config: &Config, turns: &[Turn]) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let world = open(folder.path(), config, turns.len()).await;
    let started = Instant::now();
    for turn in turns {
        serve(&world, config, turn).await;
    }
    let answered = started.elapsed();
    for owner in turns.iter().map(|turn| &turn.owner).collect::<BTreeSet<_>>() {
        let flushed = world.capture.flush(owner, PATIENCE).await.unwrap();
        assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    }
    let learned = started.elapsed();
    close(world).await;
    (answered.as_secs_f64(), learned.as_secs_f64())
}

/// How long after each turn all that it leads to is in the store, shortest first.
async fn paced(config: &Config, turns: &[Turn]) -> Vec<Duration> {
    let folder = tempfile::tempdir().unwrap();
    let world = open(folder.path(), config, turns.len()).await;
    let mut pace = tokio::time::interval(PAUSE);
    let mut waiting = JoinSet::new();
    for turn in turns {
        pace.tick().await;
        serve(&world, config, turn).await;
        let (capture, owner) = (world.capture.clone(), turn.owner.clone());
        let offered = Instant::now();
        waiting.spawn(async move {
            learned(&capture, owner).await;
            offered.elapsed()
        });
    }
    let mut waited = waiting.join_all().await;
    waited.sort_unstable();
    close(world).await;
    waited
}

/// Waits until an owner's turns are learned.
async fn learned(capture: &Capture, owner: Owner) {
    // Answered once the journal has every turn offered before.
    capture.end_session(&Owner::of_user("nobody").unwrap(), "none").await.unwrap();
    let query = JobQuery {
        owner: Some(owner),
        state: Some(JobStanding::Pending),
        before: None,
        limit: 100,
    };
    let is_due = |kind: &str| !LATER.contains(&kind);
    while capture.jobs(query.clone()).await.unwrap().iter().any(|job| is_due(&job.kind)) {
        tokio::time::sleep(LOOK).await;
    }
}

async fn run(config: &Config, turns: &[Turn]) {
    let cores = std::thread::available_parallelism().map_or(1.0, |it| it.get() as f64);
    let one = Owner::of_user("one").unwrap();
    let of_one: Vec<Turn> =
        turns.iter().cloned().map(|turn| Turn { owner: one.clone(), ..turn }).collect();
    println!("{} turns, {cores} cores", turns.len());
    println!(
        "| users | answered after, s | learned after, s | turns/s | at most ms of a core a turn |"
    );
    println!("|--:|--:|--:|--:|--:|");
    for turns in [turns, of_one.as_slice()] {
        let users = turns.iter().map(|turn| &turn.owner).collect::<BTreeSet<_>>().len();
        let (answered, learned) = as_fast_as_it_goes(config, turns).await;
        let speed = turns.len() as f64 / learned;
        let cost = cores * 1e3 / speed;
        println!("| {users} | {answered:.1} | {learned:.1} | {speed:.1} | {cost:.1} |");
    }
    let waited = paced(config, &turns[..turns.len().min(PACED)]).await;
    let [half, most, last] = [50, 99, 100].map(|percent| {
        waited.get((waited.len() - 1) * percent / 100).map_or(0.0, |it| it.as_secs_f64() * 1e3)
    });
    println!(
        "{} turns, ten a second: learned after {half:.0} ms (P50), {most:.0} ms (P99), {last:.0} ms (longest)",
        waited.len()
    );
}

fn main() {
    let most = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(usize::MAX);
    let Some(config) = config("learn") else { return };
    let mut turns = turns();
    turns.truncate(most.max(1));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(&config, &turns));
}
