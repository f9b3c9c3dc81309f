//! The cost of the trail for a request: the same question by one user with 100 memories in SQLite, through the decision, the
//! embedding model, the search and the ranking, without a trail, with one in memory, and with one in a file, too. The three
//! take turns, so that other work on the machine affects all alike. Prints medians and their ratios, and what the trail's
//! task does after the reply. Needs `cargo xtask assets`.
//!
//! `cargo bench --bench trail` (with `-- N` for N requests of each).
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may panic and prints")]

#[path = "shared/ask.rs"]
mod ask;
#[path = "shared/model.rs"]
mod model;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memgate_config::{Config, TrailConfig};
use memgate_core::clock::Clock;
use memgate_core::memory::{
    Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, Source, Write,
};
use memgate_embed::Embedder;
use memgate_recall::{Recall, RecallTrail, Recalled, Step, Trace, TrailSettings};
use memgate_store::{SqliteOptions, SqliteStore};
use memgate_testing::{World, WorldOptions};
use memgate_trail::{Bounds, TrailFile};

use ask::{ask, selection};
use model::{config, embedder};

/// Requests of each kind, unless it is told how many.
const REQUESTS: usize = 3_000;
/// Parts of a run whose ratios are told apart.
const PARTS: usize = 5;
const MEMORIES: usize = 100;
const THINGS: [&str; 10] = [
    "bicycle",
    "passport",
    "violin",
    "spare key",
    "tent",
    "camera",
    "winter coat",
    "ladder",
    "guitar",
    "toolbox",
];

fn owner() -> Owner {
    Owner::of_user("u").unwrap()
}

async fn fill(store: &SqliteStore, embedder: &dyn Embedder) {
    let space: Arc<str> = embedder.space().id().into();
    for number in 0..MEMORIES {
        let text = format!("My {} is in room {number} of the house in Lyon", THINGS[number % 10]);
        let values = embedder.embed_passages(vec![text.clone()]).await.unwrap().remove(0);
        let vector = Embedding { space: Arc::clone(&space), part: 0, values };
        let kind = MemoryType::new(MemoryType::SEMANTIC);
        let (source, now) = (Source::ExplicitUserInput, Clock::System.now());
        let memory = Memory::new(MemoryId::fresh(), owner(), kind, text, source, now);
        store.store(memory, vec![vector], &Write::by(Actor::Api, "bench")).await.unwrap();
    }
}

/// A way to keep a trail, and what its requests took.
struct Kind {
    name: &'static str,
    recall: Recall,
    waited: Vec<Duration>,
    afterwards: Vec<Duration>,
}

impl Kind {
    fn new(name: &'static str, recall: Recall) -> Self {
        Self { name, recall, waited: Vec::new(), afterwards: Vec::new() }
    }

    /// A request as the gateway makes it.
    async fn ask(&mut self, config: &Config, number: usize) {
        let text =
            format!("In which room of the house is my {}, number {number}?", THINGS[number % 10]);
        let (owner, now, arrived) = (owner(), Clock::System.now(), Instant::now());
        let trail = self.recall.trail();
        let trace = trail.is_kept().then(Trace::default);
        let context = ask(&self.recall, config, &owner, &text, trace.as_ref()).await;
        assert!(context.hits() > 0, "{text}");
        if let Some(trace) = trace {
            trace.step(Step::Total, arrived.elapsed());
            let selection = selection(config);
            trail.record(Recalled {
                request_id: number.to_string(),
                owner: owner.clone(),
                at: now,
                began: arrived,
                decision: "searched",
                threshold: selection.threshold,
                limit: selection.limit,
                trace,
                presented: context.scores,
                context: context.text,
                message: Some(text),
            });
        }
        self.waited.push(arrived.elapsed());
        // The rest of the work must not be timed with the next request.
        let replied = Instant::now();
        let _ = self.recall.trail().find("none", |_| true).await;
        self.afterwards.push(replied.elapsed());
    }
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e3
}

async fn run(requests: usize, folder: &Path, config: &Config) {
    let embedder: Arc<dyn Embedder> = Arc::new(embedder(config));
    let store = SqliteStore::open(&folder.join("m.db"), SqliteOptions::default()).unwrap();
    fill(&store, embedder.as_ref()).await;
    let options = WorldOptions { store: Arc::new(store), embedder, ..WorldOptions::default() };
    let World { recall, capture, .. } = World::open(folder, options);
    let bounds = Bounds { per_owner: 1_000, age: Duration::from_secs(3600) };
    let path = folder.join("trail.db");
    let (file, writing) = TrailFile::open(&path, bounds, Clock::System).unwrap();
    tokio::spawn(writing);
    let trailed = |file| {
        let settings =
            TrailSettings { requests: 1_000, bytes: TrailConfig::MAX_BYTES, content: false };
        let (trail, keeping) = RecallTrail::new(settings, file, Arc::new(|_: &str| true));
        tokio::spawn(keeping);
        recall.clone().with_trail(trail)
    };
    let mut kinds = [
        Kind::new("without a trail", recall.clone()),
        Kind::new("trail in memory", trailed(None)),
        Kind::new("trail in memory and in a file", trailed(Some(file))),
    ];
    for number in 0..requests {
        for turn in 0..kinds.len() {
            let turn = (number + turn) % kinds.len();
            kinds[turn].ask(config, number).await;
        }
    }
    println!("{requests} requests of each kind, in milliseconds");
    println!("| | median | ÷ without | ÷ without in parts of the run | after the reply, median |");
    println!("|---|--:|--:|--:|--:|");
    let [off, ..] = &kinds;
    for kind in &kinds {
        let ratio =
            |from: usize, to: usize| median(&kind.waited[from..to]) / median(&off.waited[from..to]);
        let part = requests / PARTS;
        let parts = (0..PARTS).map(|at| format!("{:.3}", ratio(at * part, (at + 1) * part)));
        let parts = parts.collect::<Vec<_>>().join(" ");
        let (all, after) = (median(&kind.waited), median(&kind.afterwards));
        println!("| {} | {all:.3} | {:.3} | {parts} | {after:.3} |", kind.name, ratio(0, requests));
    }
    capture.shutdown(Duration::from_secs(10)).await;
}

fn main() {
    let requests = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(REQUESTS);
    let Some(config) = config("trail") else { return };
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(requests, folder.path(), &config));
}
