//! Fills a data folder with users who have memories, for measuring: `cargo xtask bench` runs it.
//!
//! The memories go through the store's own door, one write each, and are the same every time. Their sentences are
//! combined from a pool that is embedded once with the real model, so the vectors are real and a million memories
//! take minutes.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Parser;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use memgate_config::Config;
use memgate_core::memory::{
    Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, Source, Write,
};
use memgate_embed::{
    Embedder, Run, Space,
    onnx::{OnnxEmbedder, OnnxSettings},
};
use memgate_store::{SqliteOptions, SqliteStore};

/// Writes on their way at one time: the store commits what waits together.
const AT_ONCE: usize = 512;
/// Memories between two lines of progress.
const PROGRESS: u64 = 100_000;

/// The vocabulary of the sentences: a line of topics, a line of places. The questions of `cargo xtask bench` are made of
/// the same words.
const VOCABULARY: &str = include_str!("../testdata/bench/vocabulary.txt");

/// Fills a data folder with users who have memories.
#[derive(Parser)]
struct Args {
    /// memgate's data folder.
    #[arg(long)]
    data: PathBuf,
    /// Where ONNX Runtime and the model are.
    #[arg(long, default_value = ".assets")]
    assets: PathBuf,
    /// Users: user-0, user-1, …
    #[arg(long)]
    users: u64,
    /// Memories of each.
    #[arg(long, default_value_t = 100)]
    memories: u64,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let pool = pool(&args).await?;
    let file = args.data.join("memories.db");
    let store = SqliteStore::open(&file, SqliteOptions::default())
        .with_context(|| format!("cannot open {}", file.display()))?;
    let started = Instant::now();
    let total = args.users * args.memories;
    // One memory of every user, then the next of every user: rows of one user lie apart, as in a service that
    // has run for long.
    let writes = stream::iter(0..total).map(|number| {
        let (memory, vectors) = memory(&pool, number % args.users, number / args.users);
        let store = &store;
        async move {
            let write = Write::by(Actor::Api, "bench");
            store.store(memory?, vectors, &write).await?;
            anyhow::Ok(number)
        }
    });
    writes
        .buffered(AT_ONCE)
        .try_for_each(async |number| {
            if (number + 1).is_multiple_of(PROGRESS) {
                say(&format!("{} of {total} memories", number + 1));
            }
            Ok(())
        })
        .await?;
    store.close().await;
    say(&format!("{total} memories in {:.1} s", started.elapsed().as_secs_f64()));
    Ok(())
}

/// A sentence and its vector.
struct Sentence {
    text: String,
    vector: Arc<[f32]>,
}

/// A sentence for every place of every topic.
struct Pool {
    topics: u64,
    places: u64,
    sentences: Vec<Sentence>,
    space: Arc<str>,
}

async fn pool(args: &Args) -> Result<Pool> {
    let config = Config { assets_dir: args.assets.clone(), ..Config::default() };
    let model = &config.memory.embedding;
    let embedder = OnnxEmbedder::load(&OnnxSettings {
        runtime: config.runtime_library(),
        folder: config.model_folder(),
        space: Space {
            model: model.model.clone(),
            dimension: model.dimension,
            run: Run::Here { pooling: model.pooling, precision: model.precision },
            query_prefix: model.query_prefix().to_owned(),
            passage_prefix: model.passage_prefix().to_owned(),
        },
        threads: NonZeroUsize::MIN,
    })?;
    let (topics, places) = VOCABULARY.split_once('\n').context("the vocabulary is one line")?;
    let topics: Vec<&str> = topics.split_whitespace().collect();
    let places: Vec<&str> = places.split_whitespace().collect();
    let mut texts = Vec::new();
    for topic in &topics {
        texts.extend(
            places.iter().map(|place| format!("The {topic} in {place} is booked and paid for")),
        );
    }
    let vectors = embedder.embed_passages(texts.clone()).await?;
    let sentences =
        texts.into_iter().zip(vectors).map(|(text, vector)| Sentence { text, vector }).collect();
    let (topics, places) = (topics.len() as u64, places.len() as u64);
    Ok(Pool { topics, places, sentences, space: embedder.space().id().into() })
}

/// The `number`th memory of a user: all topics at a place of the user's own, then at the next place, and so on. Who
/// asks about the first place finds something.
fn memory(pool: &Pool, user: u64, number: u64) -> (Result<Memory>, Vec<Embedding>) {
    let topic = number % pool.topics;
    let place = (user + number / pool.topics) % pool.places;
    let sentence = &pool.sentences[(topic * pool.places + place) as usize];
    let day = SignedDuration::from_hours(24 * (number % 365) as i64);
    let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 365 * 56) - day;
    let memory =
        Owner::of_user(&format!("user-{user}")).map_err(anyhow::Error::from).map(|owner| {
            let id = MemoryId::derived(&["bench", owner.name(), &number.to_string()]);
            let kind = MemoryType::new(MemoryType::SEMANTIC);
            Memory::new(id, owner, kind, &sentence.text, Source::ExternalData, now)
        });
    let vector = Embedding { space: pool.space.clone(), part: 0, values: sentence.vector.clone() };
    (memory, vec![vector])
}

#[expect(clippy::print_stderr, reason = "progress is for whoever waits")]
fn say(line: &str) {
    eprintln!("{line}");
}
