//! Facts by a helper model, which here is a double.

use std::sync::Mutex;

use axum::{Router, extract::State, http::StatusCode, routing::post};
use serde_json::json;

use crate::{service::tests::*, test_support::said};
use memgate_core::memory::MemoryType;
use memgate_embed::llm::{LimitName, Settings as HelperSettings};

/// A model with these answers, one after the other; the last one again and again.
#[derive(Clone, Default)]
pub(super) struct Model {
    answers: Arc<Mutex<Vec<(StatusCode, String)>>>,
    pub(super) asked: Arc<Mutex<Vec<String>>>,
    held: Arc<tokio::sync::Mutex<()>>,
}

async fn answer(State(model): State<Model>, body: String) -> (StatusCode, String) {
    model.asked.lock().unwrap().push(body);
    drop(model.held.lock().await);
    let mut answers = model.answers.lock().unwrap();
    if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
}

pub(super) fn completion(content: &str) -> (StatusCode, String) {
    (StatusCode::OK, json!({"choices": [{"message": {"content": content}}]}).to_string())
}

pub(super) fn facts(contents: &[&str]) -> (StatusCode, String) {
    let items: Vec<_> =
        contents.iter().map(|c| json!({"type": "semantic", "content": c})).collect();
    completion(&json!(items).to_string())
}

pub(super) async fn model(
    answers: impl IntoIterator<Item = (StatusCode, String)>,
) -> (Helper, Model) {
    let model =
        Model { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Model::default() };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let app = Router::new().route("/", post(answer)).with_state(model.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let helper = Helper::new(HelperSettings {
        role: "memory_extraction",
        address: memgate_embed::client::Address { url, api_key: None },
        model: "m".into(),
        limit_name: LimitName::MaxTokens,
        max_tokens: 100,
        temperature: 0.0,
        deadline: Duration::from_secs(5),
    });
    (helper.unwrap(), model)
}

impl House {
    pub(super) async fn forget(&self, memory: &Memory) {
        let versions = self.store.history(&memory.owner, &memory.id).await.unwrap();
        self.capture.forget_sources(&versions).await.unwrap();
        let write = memgate_core::memory::Write::by(memgate_core::memory::Actor::Api, "test");
        self.store.forget(&memory.owner, &memory.id, &write).await.unwrap();
    }

    async fn semantic(&self, user: &str) -> Vec<Memory> {
        let mut memories = self.memories(user).await;
        memories.retain(|memory| memory.memory_type.as_str() == MemoryType::SEMANTIC);
        memories
    }
}

const BUDGET: &str = "The budget of the user for the long Hawaii holiday this year is $10,000";
const NEW_BUDGET: &str = "The budget of the user for the long Hawaii holiday this year is $15,000";

#[tokio::test(flavor = "multi_thread")]
async fn every_nth_turn_is_extracted_and_the_same_fact_is_a_new_version() {
    let (helper, model) = model([
        facts(&[BUDGET, "The user lives in Lyon"]),
        facts(&[NEW_BUDGET, "The user likes olives"]),
    ])
    .await;
    let house = House::learning(helper);
    house.offer(
        said("alice", 1, "I have a budget of $10,000 for the long Hawaii holiday").session("s"),
    );
    house.offer(said("alice", 2, "It is $10,000, and I live in Lyon").session("s"));
    eventually(|| async { (house.semantic("alice").await.len() == 2).then_some(()) }).await;
    house.offer(said("alice", 3, "Make it $15,000, and I like olives").session("s"));
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let semantic = house.semantic("alice").await;
    let told: Vec<_> = semantic.iter().map(|m| (m.content.as_str(), m.version)).collect();
    assert_eq!(
        told,
        [(NEW_BUDGET, 2), ("The user likes olives", 1), ("The user lives in Lyon", 1)]
    );
    assert_eq!(semantic[0].provenance.extractor.as_deref(), Some("llm"));
    let history = house.store.history(&owner("alice"), &semantic[0].id).await.unwrap();
    assert_eq!(history.last().unwrap().content, BUDGET);
    let asked = model.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert!(
        asked[1].contains("It is $10,000, and I live in Lyon")
            && asked[1].contains("Make it $15,000, and I like olives")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_of_another_project_is_another_fact() {
    let (helper, _model) = model([facts(&[BUDGET])]).await;
    let house = House::learning(helper);
    for project in ["p", "q"] {
        let turn = said("alice", 1, "I have a budget of $10,000 for the long Hawaii holiday")
            .session(project)
            .project(project);
        house.offer(turn);
        house.flush("alice").await;
    }
    let projects: Vec<_> =
        house.semantic("alice").await.into_iter().filter_map(|m| m.project_id).collect();
    assert_eq!(projects.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_learn_the_same_fact_at_once_leave_one_memory() {
    let (helper, _model) = model([facts(&[BUDGET])]).await;
    let house = House::learning(helper);
    for session in ["a", "b", "c"] {
        house.offer(
            said("alice", 1, "I have a budget of $10,000 for the long Hawaii holiday")
                .session(session),
        );
    }
    house.flush("alice").await;
    let semantic = house.semantic("alice").await;
    assert_eq!(semantic.len(), 1);
    assert_eq!(semantic[0].metadata["reinforced"], 2, "twice more than the first time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_trouble_is_asked_again_later() {
    let error = (StatusCode::INTERNAL_SERVER_ERROR, String::new());
    let (helper, model) = model([error, facts(&[BUDGET])]).await;
    let house = House::learning(helper);
    house.offer(said("alice", 1, "I have a budget of $10,000 for the long Hawaii holiday"));
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    assert_eq!(house.semantic("alice").await.len(), 1);
    assert_eq!(model.asked.lock().unwrap().len(), 2);
    assert!(house.shows(r#"memgate_job_runs_total{kind="extract",outcome="retry"} 1"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_the_server_costs_no_batch_its_tries() {
    let (helper, model) = model([(StatusCode::SERVICE_UNAVAILABLE, String::new())]).await;
    let house = House::learning(helper);
    for (stored, user) in (1..).zip(["alice", "bob", "carol", "dave"]) {
        house.offer(
            said(user, 1, "I have a budget of $10,000 for the long Hawaii holiday").session("s"),
        );
        // Only a stored turn can be extracted from, however short the flush.
        let name = r#"memgate_job_runs_total{kind="store_turn",outcome="done"}"#;
        house.until_counted(name, stored).await;
        assert!(house.capture.flush(&owner(user), Duration::from_millis(20)).await.is_ok());
    }
    // The third failure opens the breaker, and the fourth is its trial after a rest.
    let name = r#"memgate_job_runs_total{kind="extract",outcome="postponed"}"#;
    house.until_counted(name, 2).await;
    let tries = house
        .capture
        .parts
        .journal
        .read(|c| c.query_row("SELECT sum(tries) FROM jobs", [], |row| row.get::<_, u32>(0)));
    assert_eq!(tries.await.unwrap(), 2);
    *model.answers.lock().unwrap() = vec![facts(&[BUDGET])];
    for user in ["alice", "bob", "carol", "dave"] {
        let flushed = house.flush(user).await;
        assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_twice_is_a_dead_job_with_its_reason() {
    let half = completion(r#"[{"type": "semantic", "cont"#);
    let (helper, model) = model([completion("I cannot do that"), half]).await;
    let house = House::learning(helper);
    house.offer(said("alice", 1, "I have a budget of $10,000 for the long Hawaii holiday"));
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 1));
    assert!(house.semantic("alice").await.is_empty());
    assert_eq!(house.contents("alice").await.len(), 1, "the turn itself is kept");
    assert_eq!(model.asked.lock().unwrap().len(), 2);
    let reason = house.capture.parts.journal.read(|c| {
        c.query_row("SELECT last_error FROM jobs WHERE state = 'dead'", [], |row| {
            row.get::<_, String>(0)
        })
    });
    assert_eq!(reason.await.unwrap(), "the answer is cut off");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_does_not_keep_turns_waiting() {
    let (helper, model) = model([facts(&[BUDGET])]).await;
    let held = model.held.lock().await;
    let house = House::learning(helper);
    for user in ["alice", "bob", "carol"] {
        for n in 1..=2 {
            let text = format!("Part {n} of my budget of $10,000 for the long Hawaii holiday");
            house.offer(said(user, n, &text));
        }
    }
    eventually(|| async { (model.asked.lock().unwrap().len() == 2).then_some(()) }).await;
    for user in ["alice", "bob", "carol"] {
        house.offer(said(user, 3, "I have another fact"));
        house.until_memories(user, 3).await;
        assert!(house.semantic(user).await.is_empty());
    }
    drop(held);
    house.flush("carol").await;
    assert_eq!(house.semantic("carol").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_while_the_model_thinks_leaves_no_fact() {
    let (helper, model) = model([facts(&[BUDGET])]).await;
    let held = model.held.lock().await;
    let house = House::learning(helper);
    for n in 1..=2 {
        house.offer(said("alice", n, &format!("I have fact {n}")));
    }
    eventually(|| async { (model.asked.lock().unwrap().len() == 1).then_some(()) }).await;
    house.capture.forget_turns(&owner("alice"), Forget::Everything).await.unwrap();
    drop(held);
    house.flush("alice").await;
    assert!(house.semantic("alice").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_that_was_forgotten_is_not_found_again_in_the_turns_it_came_from() {
    let (helper, model) =
        model([facts(&[BUDGET, "The user lives in Lyon"]), facts(&["The user likes olives"])])
            .await;
    let house = House::learning(helper);
    house.offer(
        said("alice", 1, "My budget for the long Hawaii holiday is $10,000, ten thousand")
            .session("s"),
    );
    house.offer(said("alice", 2, "I live in Lyon").session("s"));
    eventually(|| async { (house.semantic("alice").await.len() == 2).then_some(()) }).await;
    let budget = house.semantic("alice").await.remove(0);
    assert_eq!(budget.content, BUDGET);
    house.forget(&budget).await;
    house.offer(said("alice", 3, "I like olives").session("s"));
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let asked = model.asked.lock().unwrap().clone();
    assert!(asked[0].contains("ten thousand") && !asked[1].contains("ten thousand"), "{asked:?}");
    assert!(asked[1].contains("olives"));
    let left: Vec<_> =
        house.semantic("alice").await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(left, ["The user likes olives", "The user lives in Lyon"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_is_forgotten_with_the_turns_of_its_earlier_versions() {
    let (helper, model) = model([facts(&[BUDGET]), facts(&[NEW_BUDGET]), facts(&[])]).await;
    let house = House::learning(helper);
    house.offer(
        said("alice", 1, "My budget for the long Hawaii holiday is $10,000, ten thousand")
            .session("a"),
    );
    house.flush("alice").await;
    house.offer(
        said("alice", 1, "Make the budget for the long Hawaii holiday $15,000, fifteen")
            .session("b"),
    );
    house.flush("alice").await;
    let budget = house.semantic("alice").await.remove(0);
    assert_eq!((budget.version, budget.session_id.as_deref()), (2, Some("b")));
    house.forget(&budget).await;
    for session in ["a", "b"] {
        house.offer(said("alice", 2, "I like olives").session(session));
        house.flush("alice").await;
    }
    let asked = model.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 4);
    for later in &asked[2..] {
        assert!(!later.contains("ten thousand") && !later.contains("fifteen"), "{later}");
    }
}

/// A message that takes more than one request, and how it ends.
fn long_message() -> String {
    (0..4000).map(|n| format!("word{n} ")).collect::<String>() + "and I moved to Lyon"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_batch_is_read_in_parts_and_each_sees_what_the_one_before_gave() {
    let (helper, model) =
        model([facts(&["The user counts word7"]), facts(&["The user moved to Lyon"])]).await;
    let house = House::learning(helper);
    house.offer(said("alice", 1, &long_message()).session("s"));
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let told: Vec<_> = house.semantic("alice").await.into_iter().map(|m| m.content).collect();
    assert_eq!(told, ["The user counts word7", "The user moved to Lyon"]);
    let asked = model.asked.lock().unwrap().clone();
    assert!(asked.len() >= 2);
    assert!(asked[0].contains("word0 ") && !asked[0].contains("moved to Lyon"));
    assert!(asked[1].contains("The user counts word7"), "it is shown as stored");
    assert!(asked.last().unwrap().contains("moved to Lyon"));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_between_two_parts_only_what_is_left_is_asked_for() {
    let trouble = (StatusCode::SERVICE_UNAVAILABLE, String::new());
    let (helper, first) = model([facts(&["The user counts words"]), trouble]).await;
    let house = House::learning(helper);
    house.offer(said("alice", 1, &long_message()).session("s"));
    house.until_memories("alice", 1).await;
    assert!(house.capture.end_session(&owner("alice"), "s").await.unwrap().is_some());
    eventually(|| async { (first.asked.lock().unwrap().len() >= 2).then_some(()) }).await;
    let folder = house.folder.clone();
    drop(house);
    let (helper, second) = model([facts(&[BUDGET])]).await;
    let house = House::in_folder(folder, settings(Some(helper)), Doll::new(true), 64);
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let asked = second.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|body| !body.contains("word0 ")), "the first part is not read again");
    assert!(asked.last().unwrap().contains("moved to Lyon"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_says_is_corrected_is_superseded_where_it_is_stored() {
    let corrected = json!([
        {"type": "semantic", "content": "The user is fond of capers", "corrects": 1},
        {"type": "semantic", "content": "The user sails on Sundays", "corrects": 7},
    ]);
    let (helper, _model) =
        model([facts(&["The user likes olives"]), completion(&corrected.to_string())]).await;
    let house = House::learning(helper);
    for (session, text) in [("a", "I like olives"), ("b", "Capers, I meant, and I sail on Sundays")]
    {
        house.offer(said("alice", 1, text).session(session));
        house.flush("alice").await;
    }
    let told: Vec<_> = house.semantic("alice").await.into_iter().map(|m| m.content).collect();
    assert_eq!(told, ["The user is fond of capers", "The user sails on Sundays"]);
    assert!(house.shows(r#"memgate_reconciled_total{outcome="superseded"} 1"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn within_a_batch_what_was_said_last_holds_however_the_model_orders_it() {
    let answer = json!([
        {"type": "semantic", "content": "The user moved to Lyon.", "words": "We moved to Lyon"},
        {"type": "semantic", "content": "The user lives in Paris.", "words": "I live in Paris"},
    ]);
    let (helper, _model) = model([completion(&answer.to_string())]).await;
    let house = House::learning(helper);
    for (number, text) in [(1, "I live in Paris"), (2, "We moved to Lyon"), (3, "Nice, is it?")] {
        // As they took place: two that were offered now might share a millisecond.
        let turn = said("alice", number, text).session("s").at(i64::from(number) * 60).turn();
        house.capture.offer(turn, house.capture.exchange_begins());
    }
    house.flush("alice").await;
    let told: Vec<_> = house.semantic("alice").await.into_iter().map(|m| m.content).collect();
    assert_eq!(told, ["The user moved to Lyon."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_found_again_in_another_session_is_not_found_once_more_when_it_is_forgotten() {
    let (helper, model) = model([facts(&[BUDGET])]).await;
    let house = House::learning(helper);
    for session in ["a", "b"] {
        house.offer(said("alice", 1, "My budget for Hawaii is $10,000").session(session));
        house.flush("alice").await;
    }
    let fact = house.semantic("alice").await.remove(0);
    assert_eq!(fact.metadata["reinforced"], 1);
    house.forget(&fact).await;
    let asked = model.asked.lock().unwrap().len();
    house.offer(said("alice", 2, "Thanks, that was all for now").session("b"));
    house.flush("alice").await;
    let requests = model.asked.lock().unwrap()[asked..].concat();
    assert!(!requests.is_empty() && !requests.contains("My budget"), "{requests}");
}
