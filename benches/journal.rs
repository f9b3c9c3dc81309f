//! Turns from the gateway's hand into the journal: screened, written with the jobs they owe, committed. The time is
//! over when all are durable. `normal` survives the end of the process, `full` a power loss as well.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memgate_capture::{Bounds, Capture, Circumstances, FinishedTurn, Settings};
use memgate_core::{clock::Clock, memory::Owner};
use memgate_dialect::{Ask, Ending, Reply};
use memgate_embed::deterministic::DeterministicEmbedder;
use memgate_sqlite::{Options, Synchronous};
use memgate_telemetry::Metrics;
use memgate_testing::{World, WorldOptions};

/// Turns offered at one time, as many as the queue takes.
const TURNS: u32 = 1_024;

fn turn(user: &str, number: u32) -> FinishedTurn {
    let ask = Ask {
        user_text: Some(format!(
            "{number}: my budget for the trip to Hawaii is $10,000, and I would like to go in May"
        )),
        user_ordinal: number,
        ..Ask::default()
    };
    let reply = Reply {
        response_id: None,
        model: Some("m".to_owned()),
        text: "That should be enough for two weeks, if you book the flight early.".to_owned(),
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

fn open(
    folder: &tempfile::TempDir,
    synchronous: Synchronous,
    store_turns: bool,
    metrics: &Arc<Metrics>,
) -> Arc<Capture> {
    let options = WorldOptions {
        embedder: Arc::new(DeterministicEmbedder::new(384)),
        settings: Settings { store_turns, ..Settings::default() },
        bounds: Bounds { queue: TURNS as usize, workers: 2 },
        journal: Options { synchronous, ..Options::default() },
        metrics: metrics.clone(),
        ..WorldOptions::default()
    };
    World::open(folder.path(), options).capture
}

fn journal(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    let _guard = runtime.enter();
    let mut group = c.benchmark_group("journal");
    group.throughput(Throughput::Elements(TURNS.into())).sample_size(20);
    for (name, synchronous, store_turns) in [
        ("normal", Synchronous::Normal, false),
        ("full", Synchronous::Full, false),
        ("full, while turns become memories", Synchronous::Full, true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let metrics = Metrics::new();
        let capture = open(&folder, synchronous, store_turns, &metrics);
        let mut batch: u32 = 0;
        group.bench_function(name, |b| {
            b.iter_custom(|times| {
                let mut spent = Duration::ZERO;
                for _ in 0..times {
                    batch += 1;
                    let user = format!("user-{batch}");
                    let turns: Vec<_> = (0..TURNS).map(|number| turn(&user, number)).collect();
                    let started = Instant::now();
                    for turn in turns {
                        capture.offer(turn, capture.exchange_begins());
                    }
                    // Ending a session waits for everything offered before.
                    let nobody = Owner::of_user("nobody").unwrap();
                    runtime.block_on(capture.end_session(&nobody, "none")).unwrap();
                    spent += started.elapsed();
                }
                spent
            });
        });
        let journaled = format!("memgate_turns_journaled_total {}\n", batch * TURNS);
        assert!(metrics.encode().contains(&journaled), "turns were shed, the times mean nothing");
        runtime.block_on(capture.shutdown(Duration::from_secs(10)));
    }
    group.finish();
}

criterion_group!(benches, journal);
criterion_main!(benches);
