//! Tests the embedder with ONNX Runtime: the real model where vectors are known, and the tiny ones
//! of testdata/embed where it must fail or be slow.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::{PASSAGE_TOKENS, Pooling, Precision, QUERY_TOKENS, READ_TOKENS, Run, onnx::*};

const MODEL: &str = ".assets/models/all-MiniLM-L6-v2";
const E5: &str = ".assets/models/multilingual-e5-small-memgate-1";
const RUNTIME: &str = ".assets/onnxruntime/libonnxruntime.so.1.31.1";

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn run(pooling: Pooling, precision: Precision) -> Run {
    Run::Here { pooling, precision }
}

fn settings(folder: &str, dimension: usize) -> OnnxSettings {
    OnnxSettings {
        runtime: here(RUNTIME),
        folder: here(folder),
        space: Space {
            model: folder.into(),
            dimension,
            run: run(Pooling::Mean, Precision::Fp32),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        },
        threads: NonZeroUsize::MIN,
    }
}

fn minilm(precision: Precision) -> OnnxEmbedder {
    let mut settings = settings(MODEL, 384);
    settings.space.run = run(Pooling::Mean, precision);
    OnnxEmbedder::load(&settings).unwrap()
}

fn tripwire() -> OnnxEmbedder {
    OnnxEmbedder::load(&settings("testdata/embed/tripwire", 384)).unwrap()
}

async fn passage(embedder: &OnnxEmbedder, text: &str) -> Vector {
    let vectors = embedder.embed_passages(vec![text.to_owned()]).await;
    vectors.unwrap().remove(0)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

/// A row of testdata/embed/reference.json, made by tools/reference_vectors.py.
#[derive(Deserialize)]
struct Reference {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

fn references() -> Vec<Reference> {
    let json = std::fs::read(here("testdata/embed/reference.json")).unwrap();
    serde_json::from_slice(&json).unwrap()
}

#[tokio::test]
async fn fp32_vectors_match_the_published_model() {
    let embedder = minilm(Precision::Fp32);
    for reference in references() {
        let vector = passage(&embedder, &reference.text).await;
        let difference = farthest(&vector, &reference.vector);
        assert!(difference < 1e-5, "{difference} for {:?}", reference.text);
    }
    // The value published for sentence-transformers is 0.9429.
    let happy = passage(&embedder, "That is a happy person").await;
    let very = passage(&embedder, "That is a very happy person").await;
    assert!((cosine(&happy, &very) - 0.9429).abs() < 1e-4);
}

#[tokio::test]
async fn int8_vectors_are_close_to_the_published_model() {
    let embedder = minilm(Precision::Int8);
    for reference in references() {
        let vector = passage(&embedder, &reference.text).await;
        let near = cosine(&vector, &reference.vector);
        assert!(near > 0.97, "{near} for {:?}", reference.text);
    }
}

/// A row of testdata/embed/e5.jsonl, made by tools/reference_e5.py.
#[derive(Deserialize)]
struct Trained {
    /// With its prefix.
    text: String,
    ids: Vec<u32>,
    /// In steps of 1/2000.
    trained: Option<Vec<f32>>,
}

#[tokio::test]
async fn the_multilingual_model_gives_the_tokens_and_vectors_of_its_trained_layers() {
    let mut settings = settings(E5, 384);
    settings.space.run = run(Pooling::Mean, Precision::Int8);
    let embedder = OnnxEmbedder::load(&settings).unwrap();
    let tokens = Tokens::load(&here(E5).join("tokenizer.json"), &settings.space).unwrap();
    let rows = std::fs::read_to_string(here("testdata/embed/e5.jsonl")).unwrap();
    let rows: Vec<Trained> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), 200);
    let mut compared = 0;
    for row in rows {
        assert_eq!(tokens.passage(&row.text).unwrap(), row.ids);
        let Some(steps) = row.trained else { continue };
        compared += 1;
        let expected: Vec<f32> = steps.iter().map(|steps| steps / 2000.0).collect();
        let near = cosine(&passage(&embedder, &row.text).await, &expected);
        assert!(near > 0.98, "{near} for {:?}", row.text);
    }
    assert_eq!(compared, 50);
}

#[tokio::test]
async fn the_layers_of_a_query_do_not_depend_on_the_batch() {
    let (int8, fp32) = (minilm(Precision::Int8), minilm(Precision::Fp32));
    let texts = ["when is my sister's birthday", "ok", "what was it that we said about the flat?"];
    let mut alone = Vec::new();
    for text in texts {
        let reading = int8.read_query(text).await.unwrap();
        assert_eq!(reading.vector, int8.embed_query(text).await.unwrap());
        alone.push(reading.layers.unwrap());
    }
    let together = texts.map(|text| int8.read_query(text));
    let together = futures_util::future::try_join_all(together).await.unwrap();
    for ((alone, together), text) in alone.iter().zip(together).zip(texts) {
        assert_eq!(alone.len(), 4 * 384);
        assert!(farthest(alone, &together.layers.unwrap()) < 1e-4, "{text}");
        let exact = fp32.read_query(text).await.unwrap().layers.unwrap();
        let length = |layers: &[f32]| cosine(layers, layers).sqrt();
        let near = cosine(alone, &exact) / (length(alone) * length(&exact));
        assert!(near > 0.99, "{near} for {text:?}");
    }
    assert_ne!(alone[0], alone[1]);
    // Graphs without that output can still be used for searching.
    let without = tripwire().read_query("hello").await.unwrap();
    assert_eq!(without.layers, None);
}

#[tokio::test]
async fn a_span_is_read_within_its_text() {
    let mut settings = settings(E5, 384);
    settings.space.run = run(Pooling::Mean, Precision::Int8);
    let embedder = OnnxEmbedder::load(&settings).unwrap();
    let read = async |text: &str, spans: &[std::ops::Range<usize>]| {
        embedder.read_spans(text, spans).await.unwrap().unwrap()
    };
    let text = "I'm vegan. What can I eat?";
    let spans = [0..26, 0..10, 11..26];
    let layers = read(text, &spans).await;
    assert_eq!(layers.iter().map(|it| it.len()).collect::<Vec<_>>(), [768; 3]);
    let alike = |a: &[f32], b: &[f32]| cosine(a, b) / (cosine(a, a) * cosine(b, b)).sqrt();
    let alone = &read("I'm vegan.", &[0..10, 0..3]).await[0];
    assert_ne!(alone, &layers[1]);
    let (near, far) = (alike(alone, &layers[1]), alike(alone, &layers[2]));
    assert!(near > far, "{near} {far}");
    // What does not fit into one window is read in several, each span within one.
    let long = format!("{text} {}{text}", "The ferry leaves at noon. ".repeat(200));
    let last = long.len() - 26;
    let far = read(&long, &[0..10, last..last + 10]).await;
    let (near, far) = (alike(&far[0], &layers[1]), alike(&far[1], alone));
    assert!(near > 0.5 && far > 0.9, "{near} {far}");
    assert!(read(text, &[]).await.is_empty());
    // Graphs without that output can still be used for searching.
    assert_eq!(tripwire().read_spans("hello", &[0..5, 0..3]).await.unwrap(), None);
}

#[test]
fn a_span_longer_than_a_window_is_read_as_far_as_it_fits() {
    let space = settings("testdata/embed/tokens", 4).space;
    let tokens = Tokens::load(&here("testdata/embed/tokens/tokenizer.json"), &space).unwrap();
    let text = format!("ab {} cd", "x".repeat(700));
    let windows = tokens.windows(&text, &[0..2, 3..703, 704..706]).unwrap();
    assert!(windows.iter().all(|window| window.ids.len() <= READ_TOKENS));
    let spans: Vec<_> = windows.iter().map(|window| window.spans.clone()).collect();
    assert_eq!(format!("{spans:?}"), "[[1..3], [1..511], [1..3]]");
}

#[test]
fn tokens_match_the_published_tokenizer() {
    let space = settings(MODEL, 384).space;
    let tokens = Tokens::load(&here(MODEL).join("tokenizer.json"), &space).unwrap();
    for reference in references() {
        let ids = tokens.passage(&reference.text).unwrap();
        assert_eq!(ids, reference.ids, "{:?}", reference.text);
    }
}

#[test]
fn a_long_question_is_cut_to_its_asking_part() {
    let space = settings(MODEL, 384).space;
    let tokens = Tokens::load(&here(MODEL).join("tokenizer.json"), &space).unwrap();
    let ids = |text: &str| tokens.query(&tokens::bounded_query(text)).unwrap();
    let inner = |text: &str| {
        let ids = ids(text);
        ids[1..ids.len() - 1].to_vec()
    };
    let story = "We walked along the beach and talked about the weather. ".repeat(2000);
    let question = inner("So what is my budget?");
    for text in [
        format!("{story}So what is my budget?"),
        format!("{story}So what is my budget? Thanks, and see you soon."),
    ] {
        let cut = ids(&text);
        assert_eq!(cut.len(), QUERY_TOKENS);
        assert!(cut[..QUERY_TOKENS - 1].ends_with(&question), "{cut:?}");
    }
    let request = format!("Summarise my plans: {story} Be brief and kind.");
    let cut = ids(&request);
    assert_eq!(cut.len(), QUERY_TOKENS);
    assert!(cut[1..].starts_with(&inner("Summarise my plans:")));
    assert!(cut[..QUERY_TOKENS - 1].ends_with(&inner("Be brief and kind.")));
    assert_eq!(tokens.passage(&story).unwrap().len(), PASSAGE_TOKENS);
}

#[tokio::test]
async fn a_vector_does_not_depend_on_what_else_is_embedded() {
    for precision in [Precision::Fp32, Precision::Int8] {
        let embedder = minilm(precision);
        let mut texts: Vec<String> =
            (0..40).map(|n| format!("{} text {n}", "word ".repeat(n % 9))).collect();
        texts.push("A longer one, so that shorter ones are filled up. ".repeat(9));
        let mut alone = Vec::new();
        for text in &texts {
            alone.push(embedder.embed_query(text).await.unwrap());
        }
        // All at once, so that the thread batches them.
        let together = texts.iter().map(|text| embedder.embed_query(text));
        let together = futures_util::future::try_join_all(together).await.unwrap();
        for ((alone, together), text) in alone.iter().zip(&together).zip(&texts) {
            let difference = farthest(alone, together);
            assert!(difference < 1e-5, "{precision:?}: {difference} for {text:?}");
        }
    }
}

#[tokio::test]
async fn a_graph_that_depends_on_the_batch_gets_one_text_at_a_time() {
    let embedder = OnnxEmbedder::load(&settings("testdata/embed/neighbours", 4)).unwrap();
    let alone = embedder.embed_query("ab").await.unwrap();
    let long = "abc".repeat(9);
    let (together, _) = tokio::join!(embedder.embed_query("ab"), embedder.embed_query(&long));
    assert_eq!(together.unwrap(), alone);
}

#[tokio::test]
async fn unusual_texts_have_vectors_of_length_one() {
    let embedder = minilm(Precision::Fp32);
    let long = "語🙂 ".repeat(1_000_000);
    let word = "x".repeat(1_000_000);
    for text in ["", " \t\n", "\0\u{202e}\u{feff}", "🙂", long.as_str(), word.as_str()] {
        for vector in [embedder.embed_query(text).await.unwrap(), passage(&embedder, text).await] {
            assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
        }
    }
}

#[tokio::test]
async fn token_vectors_are_pooled_as_configured() {
    let mut settings = settings("testdata/embed/tokens", 4);
    let mean = OnnxEmbedder::load(&settings).unwrap();
    settings.space.run = run(Pooling::Cls, Precision::Fp32);
    let cls = OnnxEmbedder::load(&settings).unwrap();
    // The first token is the same special token for all texts.
    assert_eq!(passage(&cls, "ab").await, passage(&cls, "zz").await);
    assert_ne!(passage(&mean, "ab").await, passage(&mean, "zz").await);
}

#[tokio::test]
async fn prefixes_are_embedded_with_the_text() {
    let mut settings = settings("testdata/embed/tokens", 4);
    let plain = OnnxEmbedder::load(&settings).unwrap();
    settings.space.query_prefix = "q".into();
    settings.space.passage_prefix = "pp".into();
    let prefixed = OnnxEmbedder::load(&settings).unwrap();
    let expected = plain.embed_query("qab").await.unwrap();
    assert_eq!(prefixed.embed_query("ab").await.unwrap(), expected);
    assert_eq!(passage(&prefixed, "ab").await, passage(&plain, "ppab").await);
}

#[test]
fn a_truncated_text_keeps_its_prefix() {
    let mut space = settings("testdata/embed/tokens", 4).space;
    space.query_prefix = "ask: ".into();
    space.passage_prefix = "tell: ".into();
    let tokenizer = here("testdata/embed/tokens/tokenizer.json");
    let tokens = Tokens::load(&tokenizer, &space).unwrap();
    let plain = Space { query_prefix: String::new(), passage_prefix: String::new(), ..space };
    let plain = Tokens::load(&tokenizer, &plain).unwrap();
    // The special token before every text, and the prefix's letters.
    let beginning = |text: &str| {
        let ids = plain.passage(text).unwrap();
        ids[..ids.len() - 1].to_vec()
    };
    let long = "x ".repeat(500);
    for question in [format!("{long}y?"), long.clone(), "y?".into()] {
        let ids = tokens.query(&question).unwrap();
        assert!(ids.starts_with(&beginning("ask:")), "{ids:?}");
        assert!(ids.len() <= QUERY_TOKENS);
    }
    let ids = tokens.passage(&long).unwrap();
    assert!(ids.starts_with(&beginning("tell:")) && ids.len() == PASSAGE_TOKENS);
}

#[test]
fn refuses_a_model_of_another_dimension() {
    // The first file states its dimension; that of the second is found by running it.
    for (folder, found) in [(MODEL, 384), ("testdata/embed/tokens", 4)] {
        let refused = OnnxEmbedder::load(&settings(folder, 768)).err().unwrap();
        let message = refused.to_string();
        assert!(matches!(refused, EmbedError::Dimension { configured: 768, .. }), "{message}");
        assert!(message.contains(&format!("vectors of dimension {found}")), "{message}");
    }
}

#[test]
fn refuses_unusable_files_by_name() {
    let refusal = |settings: &OnnxSettings| OnnxEmbedder::load(settings).err().unwrap().to_string();
    let mut elsewhere = settings(MODEL, 384);
    elsewhere.runtime = here("no/libonnxruntime.so");
    let message = refusal(&elsewhere);
    assert!(message.contains("no/libonnxruntime.so: "), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let mut broken = settings(MODEL, 384);
    broken.folder = folder.path().to_path_buf();
    let tokenizer = folder.path().join("tokenizer.json");
    std::fs::write(folder.path().join("model.onnx"), "not a model").unwrap();
    std::fs::write(&tokenizer, "{}").unwrap();
    assert!(refusal(&broken).contains("tokenizer.json: "), "{}", refusal(&broken));
    std::fs::copy(here("testdata/embed/tokens/tokenizer.json"), &tokenizer).unwrap();
    assert!(refusal(&broken).contains("model.onnx: "), "{}", refusal(&broken));
}

#[tokio::test]
async fn a_model_that_fails_at_run_time_fails_every_request_but_loads() {
    let embedder = OnnxEmbedder::load(&settings("testdata/embed/failing", 384)).unwrap();
    assert!(matches!(embedder.check().await, Err(EmbedError::Failed(_))));
}

#[tokio::test]
async fn a_failing_text_does_not_fail_the_rest_of_its_batch() {
    let embedder = tripwire();
    let texts = ["hello", "explode", "world"];
    let results =
        futures_util::future::join_all(texts.map(|text| embedder.embed_query(text))).await;
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(matches!(results[1], Err(EmbedError::Failed(_))), "{results:?}");
    embedder.check().await.unwrap();
}

/// That the thread skips them is tested where it takes them, in queue.rs.
#[tokio::test]
async fn cancelled_requests_disturb_no_others() {
    let embedder = tripwire();
    // The first occupies the thread; the twenty behind it are cancelled while they wait.
    let first = embedder.embed_query("dawdle");
    let impatient = (0..20)
        .map(|_| tokio::time::timeout(Duration::from_millis(1), embedder.embed_query("dawdle")));
    let (first, _) = tokio::join!(first, futures_util::future::join_all(impatient));
    first.unwrap();
    embedder.embed_query("hello").await.unwrap();
}

#[tokio::test]
async fn too_many_requests_at_once_are_refused_and_the_rest_answered() {
    let embedder = tripwire();
    let requests = std::iter::once("dawdle".to_owned())
        .chain((0..600).map(|n| format!("text {n}")))
        .collect::<Vec<_>>();
    let results = requests.iter().map(|text| embedder.embed_query(text));
    let results = futures_util::future::join_all(results).await;
    let busy = results.iter().filter(|result| **result == Err(EmbedError::Busy)).count();
    let answered = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(busy + answered, requests.len());
    assert!(busy > 0 && answered >= 256, "{busy} busy, {answered} answered");
}

#[tokio::test]
async fn after_close_the_threads_are_gone_and_requests_are_refused() {
    let mut settings = settings("testdata/embed/tripwire", 384);
    settings.threads = NonZeroUsize::new(2).unwrap();
    let embedder = OnnxEmbedder::load(&settings).unwrap();
    let waiting = async {
        let requests = (0..40).map(|_| embedder.embed_query("dawdle"));
        futures_util::future::join_all(requests).await
    };
    let (results, ()) = tokio::join!(waiting, async {
        tokio::task::yield_now().await;
        embedder.close().await;
    });
    assert!(results.contains(&Err(EmbedError::Closed)));
    assert_eq!(embedder.embed_query("hello").await, Err(EmbedError::Closed));
    let passages = embedder.embed_passages(vec!["hello".into()]).await;
    assert_eq!(passages, Err(EmbedError::Closed));
    assert_eq!(Arc::strong_count(&embedder.queue), 1, "no thread holds the queue");
}
