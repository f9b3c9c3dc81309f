//! The cost of one talkative user: thousands of turns of one user, from the journal to the last memory, jobs one after
//! the other as they must be; and the same turns of many users. Prints seconds and turns a second.
//!
//! `cargo bench --bench learn` (with `-- N` for N turns).
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may panic and prints")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use memgate_capture::{Bounds, Circumstances, FinishedTurn};
use memgate_core::{clock::Clock, memory::Owner};
use memgate_dialect::{Ask, Ending, Reply};
use memgate_embed::deterministic::DeterministicEmbedder;
use memgate_store::{SqliteOptions, SqliteStore};
use memgate_testing::{World, WorldOptions};

/// Turns of a run, unless it is told how many.
const TURNS: u32 = 4_000;

/// The longest run.
const PATIENCE: Duration = Duration::from_secs(600);

fn turn(user: &str, number: u32) -> FinishedTurn {
    let ask = Ask {
        user_text: Some(format!("Locker {number} in hall {} holds the spare key", number % 97)),
        user_ordinal: number + 1,
        ..Ask::default()
    };
    let reply = Reply {
        response_id: None,
        model: Some("m".to_owned()),
        text: format!("Noted. I will look into locker {number} when you ask for the key."),
        refusal: None,
        tool_calls: Vec::new(),
        outcome: Ending::Complete,
        usage: None,
        items: Vec::new(),
    };
    let of = Circumstances {
        owner: Owner::of_user(user).unwrap(),
        project_id: None,
        agent_id: None,
        session_header: Some("session".to_owned()),
        request_id: None,
        began: Clock::System.now(),
        ended: Clock::System.now(),
        zone: jiff::tz::TimeZone::UTC,
        ends_session: false,
        learn: true,
    };
    FinishedTurn::new(&ask, reply, of).unwrap()
}

/// Seconds to journal turns, and from then on to the last memory.
async fn learn(turns: u32, users: u32) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("m.db"), SqliteOptions::default()).unwrap();
    let options = WorldOptions {
        store: Arc::new(store),
        embedder: Arc::new(DeterministicEmbedder::new(384)),
        bounds: Bounds { queue: turns as usize, workers: 2 },
        ..WorldOptions::default()
    };
    let path = folder.path().to_owned();
    let world = tokio::task::spawn_blocking(move || World::open(&path, options));
    let World { capture, .. } = world.await.unwrap();
    let started = Instant::now();
    for number in 0..turns {
        capture.offer(turn(&format!("user-{}", number % users), number), capture.exchange_begins());
    }
    // Ending a session waits for everything offered before.
    capture.end_session(&Owner::of_user("nobody").unwrap(), "none").await.unwrap();
    let journaled = started.elapsed().as_secs_f64();
    for user in 0..users {
        let owner = Owner::of_user(&format!("user-{user}")).unwrap();
        let flushed = capture.flush(&owner, PATIENCE).await.unwrap();
        assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    }
    let learnt = started.elapsed().as_secs_f64();
    capture.shutdown(Duration::from_secs(10)).await;
    (journaled, learnt)
}

fn main() {
    let turns = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(TURNS);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for users in [1, 400] {
        let (journaled, learnt) = runtime.block_on(learn(turns, users));
        println!(
            "{turns} turns of {users} users: journaled after {journaled:.2} s, learnt after {learnt:.2} s \
             ({:.0} turns/s)",
            f64::from(turns) / learnt
        );
    }
}
