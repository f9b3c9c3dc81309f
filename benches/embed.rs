//! One question of 16 tokens, and 32 passages of 40, through the embedding model, from the caller's side: queue,
//! tokenizer, model. Nothing is cached. Needs `cargo xtask assets`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may panic and prints")]

#[path = "shared/model.rs"]
mod model;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use memgate_config::EmbeddingConfig;
use memgate_embed::{Embedder, Precision};

use model::{config, embedder};

/// About 40 tokens.
const PASSAGE: &str = "We booked the small hotel behind the station in Lisbon from the ninth to the sixteenth of May, \
                       breakfast included, and the owner keeps our bicycles in the yard until we are back.";
const PASSAGES: usize = 32;
const QUESTION: &str = "What did I tell you about the hotel in Lisbon for next May?";

fn embed(c: &mut Criterion) {
    let Some(config) = config("embed") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = c.benchmark_group("embed");
    for (model, precision) in [
        (EmbeddingConfig::MODEL, Precision::Int8),
        ("all-MiniLM-L6-v2", Precision::Int8),
        ("all-MiniLM-L6-v2", Precision::Fp32),
    ] {
        let mut config = config.clone();
        model.clone_into(&mut config.memory.embedding.model);
        config.memory.embedding.precision = precision;
        if !config.model_folder().is_dir() {
            println!("embed: {model} skipped, it is not there");
            continue;
        }
        let (name, embedder) = (format!("{model} {precision:?}"), embedder(&config));
        group.bench_function(format!("16 tokens/{name}"), |b| {
            b.iter(|| runtime.block_on(embedder.embed_query(black_box(QUESTION))).unwrap());
        });
        let passages: Vec<String> = (0..PASSAGES).map(|i| format!("{PASSAGE} {i}")).collect();
        group.bench_function(format!("32 passages of 40 tokens/{name}"), |b| {
            b.iter(|| {
                runtime.block_on(embedder.embed_passages(black_box(passages.clone()))).unwrap()
            });
        });
        runtime.block_on(embedder.close());
    }
    group.finish();
}

criterion_group!(benches, embed);
criterion_main!(benches);
