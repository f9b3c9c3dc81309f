use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, extract::State, http::StatusCode, routing::post};
use jiff::{Timestamp, civil::Date};
use serde_json::json;

use crate::{
    QueryConfig, Recall, Selection, pipeline::expansion::*, query::build_query,
    request::tests::request, tests::recall_on,
};
use memgate_core::memory::{
    Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, Source, Write,
};
use memgate_embed::{
    Embedder,
    client::Address,
    deterministic::DeterministicEmbedder,
    llm::{Helper, LimitName, Settings},
};
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;

const BUDGET: &str = "My budget for the Hawaii trip is ten thousand dollars";
const CAT: &str = "My cat sleeps all day on the red sofa";
mod self_query;

const PLAN: &str = "Let us talk about my cat";

/// A model that answers so, after a while.
#[derive(Clone)]
struct Double {
    answer: (StatusCode, String),
    delay: Duration,
    asked: Arc<AtomicUsize>,
}

async fn serve(State(double): State<Double>) -> (StatusCode, String) {
    double.asked.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(double.delay).await;
    double.answer
}

fn says(words: &str) -> (StatusCode, String) {
    let answer = json!({"choices": [{"message": {"content": words}}]});
    (StatusCode::OK, answer.to_string())
}

/// Recall on two memories, with a model; none where nothing listens.
async fn recall(
    answer: Option<(StatusCode, String)>,
    delay: Duration,
) -> (Recall, Arc<AtomicUsize>) {
    recall_of([BUDGET, CAT].map(memory), answer, delay).await
}

fn memory(content: &str) -> Memory {
    Memory::new(
        MemoryId::derived(&[content]),
        Owner::of_user("u").unwrap(),
        MemoryType::new(MemoryType::SEMANTIC),
        content,
        Source::ExplicitUserInput,
        Timestamp::UNIX_EPOCH,
    )
}

/// Recall on these memories.
async fn recall_of(
    memories: impl IntoIterator<Item = Memory>,
    answer: Option<(StatusCode, String)>,
    delay: Duration,
) -> (Recall, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    if let Some(answer) = answer {
        let double = Double { answer, delay, asked: asked.clone() };
        let app = Router::new().route("/", post(serve)).with_state(double);
        tokio::spawn(async move { axum::serve(listener, app).await });
    }
    let settings = Settings {
        role: "memory_rewrite",
        address: Address { url, api_key: None },
        model: "m".into(),
        limit_name: LimitName::MaxTokens,
        max_tokens: 100,
        temperature: 0.1,
        deadline: Duration::from_secs(30),
    };
    let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::default());
    let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(256));
    for memory in memories {
        let content = memory.content.clone();
        let values = embedder.embed_passages(vec![content]).await.unwrap().remove(0);
        let vector = Embedding { space: embedder.space().id().into(), part: 0, values };
        store.store(memory, vec![vector], &Write::by(Actor::Capture, "told")).await.unwrap();
    }
    let rewriter = Rewriter::new(Arc::new(Helper::new(settings).unwrap()));
    let recall = recall_on(store, embedder, Metrics::new());
    (recall.with_rewriter(Some(rewriter)), asked)
}

fn techniques(hyde: bool, patience: u64) -> QueryConfig {
    QueryConfig { hyde, rewrite_deadline_ms: patience, ..QueryConfig::default() }
}

/// The memories found for a message after [`PLAN`].
async fn found(recall: &Recall, message: &str, techniques: &QueryConfig) -> Vec<String> {
    let owner = Owner::of_user("u").unwrap();
    let now = Timestamp::UNIX_EPOCH;
    let query = build_query(message, &[PLAN], Date::default(), techniques);
    let selection = Selection { limit: 5, threshold: 0.85, types: Vec::new() };
    let request = RecallRequest { earlier: &[PLAN], ..request(&owner, &selection, now) };
    let hits = recall.search(&query, &request).await.unwrap();
    hits.into_iter().map(|hit| hit.memory.content).collect()
}

#[tokio::test]
async fn a_rewritten_question_replaces_a_vague_one() {
    let answer = says("<think>hm</think>\"What is my budget for the Hawaii trip?\"");
    let (recall, asked) = recall(Some(answer), Duration::ZERO).await;
    assert_eq!(found(&recall, "and the cat?", &techniques(false, 5_000)).await, [BUDGET]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let clear = "What was it that my cat does all day on the red sofa?";
    assert_eq!(found(&recall, clear, &techniques(false, 5_000)).await, [CAT]);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "a clear question is not rewritten");
}

#[tokio::test]
async fn whatever_is_wrong_with_the_model_the_plain_search_stands() {
    let fine = Duration::ZERO;
    for (answer, delay) in [
        (None, fine),
        (Some(says("What is my budget for the Hawaii trip?")), Duration::from_secs(60)),
        (Some(says("")), fine),
        (Some(says("<think>I should")), fine),
        (Some(says(&"blah ".repeat(1_000))), fine),
        (Some(says("xqzt wvvk")), fine),
        (Some((StatusCode::OK, "no JSON".into())), fine),
        (Some((StatusCode::OK, r#"{"choices":[]}"#.into())), fine),
        (Some((StatusCode::INTERNAL_SERVER_ERROR, String::new())), fine),
        (Some((StatusCode::NOT_FOUND, String::new())), fine),
    ] {
        let told = format!("{answer:?}");
        let (recall, _) = recall(answer, delay).await;
        let found = found(&recall, "and the cat on the sofa?", &techniques(false, 300)).await;
        assert_eq!(found, [CAT], "{told}");
    }
}

#[tokio::test]
async fn a_model_that_is_late_is_waited_for_no_longer_than_it_may_take() {
    let (recall, _) = recall(Some(says("late")), Duration::from_secs(60)).await;
    let began = Instant::now();
    assert_eq!(found(&recall, "and the cat on the sofa?", &techniques(false, 100)).await, [CAT]);
    assert!(began.elapsed() >= Duration::from_millis(100));
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_model_that_goes_on_failing_is_left_alone() {
    let (recall, asked) =
        recall(Some((StatusCode::BAD_GATEWAY, String::new())), Duration::ZERO).await;
    let techniques = techniques(false, 5_000);
    let began = Instant::now();
    for _ in 0..8 {
        assert_eq!(found(&recall, "and the cat on the sofa?", &techniques).await, [CAT]);
    }
    let query = build_query("and the cat?", &[PLAN], Date::default(), &techniques);
    let extra = extra_time(&recall.services, &query);
    // A cooldown, of two seconds or more, may end on a machine that does much else: then the model is tried once.
    let trials = began.elapsed().as_secs() / 2;
    let asked = asked.load(Ordering::SeqCst) as u64;
    assert!((3..=3 + trials).contains(&asked), "{asked}");
    if trials == 0 {
        assert_eq!(extra, None, "nobody needs more time for it");
    }
}

#[tokio::test]
async fn a_guessed_answer_is_used_where_nothing_else_is_relevant_enough() {
    let guess = says("My budget for the Hawaii trip is ten thousand dollars");
    let (recall, asked) = recall(Some(guess), Duration::ZERO).await;
    let question = "Which sum did we settle?";
    let found_with = async |hyde| found(&recall, question, &techniques(hyde, 5_000)).await;
    assert_eq!(found_with(false).await, [""; 0]);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    assert_eq!(found_with(true).await, [BUDGET]);
    let clear = "What does my cat do all day on the red sofa?";
    assert_eq!(found(&recall, clear, &techniques(true, 5_000)).await, [CAT]);
}
