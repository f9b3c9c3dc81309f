//! Pure work on bytes: a request read and a context spliced in, a streamed reply collected, a context written.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jiff::Timestamp;
use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};
use memgate_dialect::{Dialect, Ending, Placement, ReplyCollector, read};
use memgate_recall::{Budget, Context, ContextContent, Hit, ScoreBreakdown, tokens, write_context};

const SIZES: [(&str, usize); 3] = [("1 KB", 1_000), ("20 KB", 20_000), ("1 MB", 1_000_000)];
/// Pieces in which a reply arrives: what Envoy hands on of a stream is about this long.
const CHUNK: usize = 4_096;

/// A conversation of about `bytes` bytes.
fn conversation(bytes: usize) -> String {
    let turn = r#",{"role":"user","content":"I was thinking about how we would go on with the \"plan\" from last week."},{"role":"assistant","content":"That sounds reasonable. Shall we go through it\npoint by point?"}"#;
    let system = r#"{"role":"system","content":"You are a helpful assistant."}"#;
    let last = r#",{"role":"user","content":"What did I tell you about the hotel in lisbon?"}"#;
    let turns = turn.repeat(bytes.saturating_sub(200) / turn.len());
    format!(
        r#"{{"model":"m","messages":[{system}{turns}{last}],"memory_config":{{"enabled":true}}}}"#
    )
}

fn hits() -> Vec<Hit> {
    let hit = |number: i32| Hit {
        scope: memgate_recall::HitScope::default(),
        memory: Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            format!(
                "The hotel in lisbon costs {number} euros a night and is booked until the end of the week"
            ),
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        ),
        score: 0.9,
        breakdown: ScoreBreakdown {
            cosine: Some(0.8),
            part: Some(0),
            coverage: Some(0.5),
            bm25: Some(3.0),
            gap: Some(-0.1),
            length: 1.0,
            ..ScoreBreakdown::default()
        },
    };
    (0..5).map(hit).collect()
}

/// The context of hits, in the default budget.
fn written(hits: &[Hit]) -> Context {
    let query = "What did I tell you about the hotel in lisbon?";
    let (now, zone) = (Timestamp::UNIX_EPOCH, &jiff::tz::TimeZone::UTC);
    let content = ContextContent { preferences: &[], wishes: &[], hits, query, now, zone };
    write_context(&content, Budget { context: 512, standing: 96 })
}

fn edit(c: &mut Criterion) {
    let context = written(&hits()).text;
    let mut group = c.benchmark_group("edit");
    for (name, bytes) in SIZES {
        let body = conversation(bytes);
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_with_input(BenchmarkId::new("read", name), &body, |b, body| {
            b.iter(|| read(Dialect::Chat, black_box(body.as_bytes())).unwrap());
        });
        let request = read(Dialect::Chat, body.as_bytes()).unwrap();
        group.bench_with_input(BenchmarkId::new("splice", name), &body, |b, body| {
            b.iter(|| {
                request.plan(Some((black_box(&context), Placement::System))).apply(body.as_bytes())
            });
        });
    }
    group.finish();
}

fn sse(c: &mut Criterion) {
    let mut stream = String::new();
    for number in 0..1_000 {
        let text = format!("word{number} ");
        stream.push_str(&format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
        ));
    }
    stream.push_str("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    let collect = || {
        let mut collector = ReplyCollector::new(Dialect::Chat, Some("text/event-stream"), 1 << 22);
        for chunk in black_box(stream.as_bytes()).chunks(CHUNK) {
            collector.push(chunk);
        }
        collector.finish().unwrap()
    };
    assert_eq!(collect().outcome, Ending::Complete);
    let mut group = c.benchmark_group("sse");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("1000 deltas", |b| b.iter(collect));
    group.finish();
}

fn context(c: &mut Criterion) {
    let short = hits();
    c.bench_function("context of 5 memories", |b| b.iter(|| written(black_box(&short))));
    // As many as there is room for, each with a sentence of its own.
    let mut full = hits();
    for (number, hit) in full.iter_mut().enumerate() {
        hit.memory.content = (0..8)
            .map(|line| {
                format!(
                    "On day {line} of trip {number} we saw a castle, {} boats and the sea. ",
                    line * 37
                )
            })
            .collect();
    }
    let text = written(&full).text;
    assert!((400..=512).contains(&tokens(&text)), "{}", tokens(&text));
    c.bench_function("context of 512 tokens", |b| b.iter(|| written(black_box(&full))));
    c.bench_function("count 512 tokens", |b| b.iter(|| tokens(black_box(&text))));
    // A longer text is searched for the words of the query.
    for (number, hit) in full.iter_mut().enumerate() {
        hit.memory.content = format!("Line {number} of a long report about nothing. ").repeat(400);
    }
    c.bench_function("context of 5 long memories", |b| b.iter(|| written(black_box(&full))));
}

criterion_group!(benches, edit, sse, context);
criterion_main!(benches);
