//! The rehearsed recall, who the caller is, and the summary of the trail.

use crate::api::tests::*;

const BUDGET: &str = "My budget for the Hawaii trip is $10,000";
const QUESTION: &str = "What is my budget for the Hawaii trip?";

#[tokio::test]
async fn a_rehearsal_shows_the_prompt_of_a_message_and_leaves_no_trace() {
    let server = Server::start().await;
    let id = server.remember("ann", BUDGET).await;
    let asked = json!({"user_id": "ann", "message": QUESTION, "earlier": ["Good morning"],
        "threshold": 0.1, "placement": "before_last_user"});
    let (status, answer) = server.post("/v1/context", asked.clone()).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["recall"]["decision"], "searched");
    assert_eq!(answer["recall"]["candidates"][0]["memory_id"], json!(id));
    assert_eq!(answer["recall"]["candidates"][0]["content"], BUDGET);
    let context = answer["context"].as_str().unwrap();
    assert!(context.contains(BUDGET), "{context}");
    let messages = answer["messages"].as_array().unwrap();
    let said: Vec<&str> = messages.iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["Good morning", context, QUESTION]);
    let mut by_model = asked.clone();
    by_model["embedding_model"] = answer["embedding_models"][0].clone();
    assert_eq!(
        server.post("/v1/context", by_model).await.1["context"],
        context,
        "there is one model"
    );

    assert_eq!(server.get("/v1/recalls?user_id=ann").await.1, json!({"recalls": []}));
    assert!(!server.operations.metrics.encode().contains("decision=\"searched\""));
    let strict = json!({"user_id": "ann", "message": QUESTION, "threshold": 1.0});
    let (_, answer) = server.post("/v1/context", strict).await;
    assert_eq!((&answer["context"], &answer["messages"][0]["role"]), (&json!(""), &json!("user")));
    assert_eq!(answer["recall"]["candidates"][0]["outcome"], "threshold");

    for (member, value) in [
        ("message", json!("")),
        ("threshold", json!(2)),
        ("limit", json!(0)),
        ("placement", json!("nowhere")),
        ("types", json!(["unknown"])),
        ("embedding_model", json!("unknown")),
        ("message", json!("x".repeat(70_000))),
        ("earlier", json!(vec!["again"; 65])),
        ("earlier", json!([""])),
        ("agent_id", json!("")),
    ] {
        let mut wrong = asked.clone();
        wrong[member] = value;
        let answer = server.post("/v1/context", wrong).await;
        assert_eq!((error(&answer).0, error(&answer).2), (400, Some(member)), "{answer:?}");
    }
}

#[tokio::test]
async fn a_rehearsal_finds_what_the_gateway_would_and_only_within_the_bound_of_the_key() {
    let server = Server::start().await;
    let of_agent = json!({"user_id": "ann", "content": BUDGET, "agent_id": "planner"});
    assert_eq!(server.post("/v1/memory", of_agent).await.0, StatusCode::CREATED);
    let mut asked = json!({"user_id": "ann", "message": QUESTION, "threshold": 0.1});
    assert_eq!(server.post("/v1/context", asked.clone()).await.1["context"], "");
    asked["agent_id"] = json!("planner");
    let (_, answer) = server.post("/v1/context", asked.clone()).await;
    assert!(answer["context"].as_str().unwrap().contains(BUDGET), "{answer}");
    let key = json!({"name": "bob", "scopes": ["read"], "user_id": "bob"});
    let (_, key) = server.post("/admin/keys", key).await;
    let as_bob = server.request(Method::POST, "/v1/context").json(&asked);
    let as_bob = server.send(as_bob.bearer_auth(key["key"].as_str().unwrap())).await;
    assert_eq!(as_bob.0, StatusCode::NOT_FOUND, "{as_bob:?}");
}

#[tokio::test]
async fn a_caller_learns_what_its_key_may_do() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/whoami").await.1, json!({"scopes": ["admin"]}));
    let key = json!({"name": "bob", "scopes": ["read", "write"], "user_id": "bob"});
    let (_, key) = server.post("/admin/keys", key).await;
    let as_bob = server.request(Method::GET, "/v1/whoami");
    let as_bob = server.send(as_bob.bearer_auth(key["key"].as_str().unwrap())).await;
    let expected = json!({"scopes": ["read", "write"], "user_id": "bob", "tenant_id": "default"});
    assert_eq!(as_bob, (StatusCode::OK, expected));
}

#[tokio::test]
async fn the_summary_of_the_trail_names_the_slowest_request_of_each_step_and_no_user() {
    let server = Server::start().await;
    server.remember("ann-the-user", BUDGET).await;
    server.ask("ann-the-user", "r1", QUESTION, 0.1).await;
    server.ask("ann-the-user", "r2", QUESTION, 1.0).await;
    let (status, sum) = server.get("/admin/recalls/summary").await;
    assert_eq!(status, StatusCode::OK, "{sum}");
    assert_eq!(sum["by_decision"], json!({"searched": 2}));
    assert_eq!((&sum["requests"], &sum["with_hits"]), (&json!(2), &json!(1)));
    let search = sum["steps"].as_array().unwrap().iter().find(|it| it["step"] == "search").unwrap();
    assert!(["r1", "r2"].contains(&search["slowest_request_id"].as_str().unwrap()), "{sum}");
    assert!(
        !sum.to_string().contains("ann-the-user") && !sum.to_string().contains("Hawaii"),
        "{sum}"
    );
    let (_, none) = server.get("/admin/recalls/summary?since=2999-01-01T00:00:00Z").await;
    assert_eq!((&none["requests"], &none["first_at"]), (&json!(0), &Value::Null));
}
