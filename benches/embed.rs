//! One question of 16 tokens, and 32 passages of 40, through the embedding model, from the caller's side: queue,
//! tokenizer, model. Nothing is cached. Needs `cargo xtask assets`.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use criterion::{Criterion, criterion_group, criterion_main};
use memgate_config::{Config, EmbeddingConfig};
use memgate_embed::{
    Embedder, Precision, Run, Space,
    onnx::{OnnxEmbedder, OnnxSettings},
};

/// About 40 tokens.
const PASSAGE: &str = "We booked the small hotel behind the station in Lisbon from the ninth to the sixteenth of May, \
                       breakfast included, and the owner keeps our bicycles in the yard until we are back.";
const PASSAGES: usize = 32;
const QUESTION: &str = "What did I tell you about the hotel in Lisbon for next May?";

fn embed(c: &mut Criterion) {
    let assets = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".assets");
    let config = Config { assets_dir: assets, ..Config::default() };
    if !config.runtime_library().is_file() {
        skipped();
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = c.benchmark_group("embed");
    for (model, precision) in [
        (EmbeddingConfig::MODEL, Precision::Int8),
        ("all-MiniLM-L6-v2", Precision::Int8),
        ("all-MiniLM-L6-v2", Precision::Fp32),
    ] {
        let mut config = config.clone();
        model.clone_into(&mut config.memory.embedding.model);
        if !config.model_folder().is_dir() {
            skipped();
            continue;
        }
        let name = format!("{model} {precision:?}");
        let model = &config.memory.embedding;
        let embedder = OnnxEmbedder::load(&OnnxSettings {
            runtime: config.runtime_library(),
            folder: config.model_folder(),
            space: Space {
                model: model.model.clone(),
                dimension: model.dimension,
                run: Run::Here { pooling: model.pooling, precision },
                query_prefix: model.query_prefix().to_owned(),
                passage_prefix: model.passage_prefix().to_owned(),
            },
            threads: NonZeroUsize::MIN,
        })
        .unwrap();
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

#[expect(clippy::print_stderr, reason = "whoever runs this must know")]
fn skipped() {
    eprintln!("embed: skipped, there is no model; `cargo xtask assets` fetches it");
}

criterion_group!(benches, embed);
criterion_main!(benches);
