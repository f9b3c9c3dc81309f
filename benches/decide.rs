//! Deciding whether to search, without the embedding: rules, features and the model by words.

#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_models::Models;
use memgate_recall::{Earlier, Message, decide};

/// Twenty words that neither rules nor words are sure of; and a message that is longer than what
/// is looked at.
fn messages() -> [(&'static str, String); 2] {
    let twenty = "could you remind me which of the two hotels near the old harbour Jean said was \
                  quieter, the one with balconies";
    [("20 words", twenty.to_owned()), ("100 kB", "lorem ipsum dolor sit amet. ".repeat(3_700))]
}

fn deciding(c: &mut Criterion) {
    let models = Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap();
    let mut group = c.benchmark_group("decide");
    for (name, text) in messages() {
        let message = Message { text: &text, signals: &Earlier::SILENT, tools_offered: true };
        group.bench_function(name, |b| b.iter(|| decide(black_box(&message), &models)));
    }
    group.finish();
}

criterion_group!(benches, deciding);
criterion_main!(benches);
