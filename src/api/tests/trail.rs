use std::time::Instant as StdInstant;

use tokio::time::Instant;

use crate::api::tests::*;
use memgate_core::memory::Within;
use memgate_recall::{Earlier, Message, RecallRequest, Recalled, Selection, Trace};

impl Server {
    /// A request to a model, as the gateway has it recalled, with this threshold.
    pub(super) async fn ask(&self, user: &str, request_id: &str, question: &str, threshold: f32) {
        let operations = &self.operations;
        let config = operations.config.get();
        let owner = Owner::of_user(user).unwrap();
        let selection = Selection { limit: 5, threshold, types: Vec::new() };
        let trace = Trace::default();
        let now = operations.clock.now();
        let request = RecallRequest {
            owner: &owner,
            projects: &Within::All,
            agents: &Within::All,
            session: None,
            reader: None,
            earlier: &[],
            selection: &selection,
            settings: config.memory.recall_settings(),
            filter: None,
            forgotten: &[],
            now,
            zone: jiff::tz::TimeZone::UTC,
            deadline: Instant::now() + Duration::from_secs(60),
            trace: Some(&trace),
        };
        let signals = Earlier { personal: Some(true), ..Earlier::SILENT };
        let message = Message { text: question, signals: &signals, tools_offered: false };
        let began = StdInstant::now();
        let plan = operations.recall.plan(message, &request).await.unwrap();
        let context = plan.context(|_| false).await.unwrap();
        drop(plan);
        operations.recall.trail().record(Recalled {
            request_id: request_id.to_owned(),
            owner: owner.clone(),
            at: now,
            began,
            decision: "searched",
            threshold,
            limit: 5,
            trace,
            presented: context.scores,
            context: context.text,
            message: Some(question.to_owned()),
        });
    }
}

const BUDGET: &str = "My budget for the Hawaii trip is $10,000";
const QUESTION: &str = "What is my budget for the Hawaii trip?";

fn with_content() -> Config {
    let mut config = Config::default();
    config.memory.trail.content = true;
    config
}

#[tokio::test]
async fn a_request_can_be_looked_up_with_its_candidates_and_steps() {
    let server = Server::start().await;
    let id = server.remember("ann", BUDGET).await;
    server.ask("ann", "r1", QUESTION, 0.1).await;
    let (status, recall) = server.get("/v1/recalls/r1").await;
    assert_eq!(status, StatusCode::OK, "{recall}");
    assert_eq!((&recall["request_id"], &recall["user_id"]), (&json!("r1"), &json!("ann")));
    assert_eq!(
        (&recall["decision"], &recall["decided_by"]),
        (&json!("searched"), &json!("earlier"))
    );
    let candidate = &recall["candidates"][0];
    assert_eq!((&candidate["memory_id"], &candidate["outcome"]), (&json!(id), &json!("presented")));
    assert!(candidate["score"].as_f64().unwrap() > 0.1 && candidate["parts"]["cosine"].is_number());
    assert!(recall["context_tokens"].as_u64().unwrap() > 10);
    assert!(recall["steps"].as_array().unwrap().iter().any(|step| step["step"] == "search"));
    assert!(!recall.to_string().contains("Hawaii"), "no words unless configured: {recall}");
    let (_, recalls) = server.get("/v1/recalls?user_id=ann").await;
    assert_eq!(recalls["recalls"], json!([recall]));
    assert_eq!(server.get("/v1/recalls?user_id=bob").await.1, json!({"recalls": []}));
}

#[tokio::test]
async fn a_request_of_a_user_out_of_reach_is_answered_as_an_unknown_one() {
    let server = Server::start().await;
    server.remember("ann", BUDGET).await;
    server.ask("ann", "r1", QUESTION, 0.1).await;
    let key = json!({"name": "bob", "scopes": ["read"], "user_id": "bob"});
    let (status, key) = server.post("/admin/keys", key).await;
    assert_eq!(status, StatusCode::CREATED, "{key}");
    let as_bob = async |path: &str| {
        let request = Client::builder().no_proxy().build().unwrap();
        let request = request.get(format!("{}{path}", server.origin));
        let answer = request.bearer_auth(key["key"].as_str().unwrap()).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    };
    let unknown = as_bob("/v1/recalls/unknown").await;
    assert_eq!(unknown.0, StatusCode::NOT_FOUND);
    assert_eq!(as_bob("/v1/recalls/r1").await, unknown);
    assert_eq!(as_bob("/v1/recalls/r1?user_id=ann").await, unknown);
    assert_eq!(server.get("/v1/recalls/r1?user_id=bob").await.0, StatusCode::NOT_FOUND);
    assert_eq!(as_bob("/v1/recalls?user_id=ann").await.0, StatusCode::NOT_FOUND);
    assert_eq!(as_bob("/v1/turns/unknown").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn words_are_shown_where_configured_until_they_are_forgotten() {
    let store = Arc::new(InMemoryStore::new());
    let server = Server::configured(store, Some(KEY), with_content()).await;
    let id = server.remember("ann", BUDGET).await;
    server.ask("ann", "r1", QUESTION, 0.1).await;
    let (_, recall) = server.get("/v1/recalls/r1").await;
    assert_eq!(recall["query"]["text"], QUESTION);
    assert_eq!(recall["candidates"][0]["content"], BUDGET);
    assert_eq!(server.delete(&format!("/v1/memory/{id}?user_id=ann")).await.0, StatusCode::OK);
    let (_, recall) = server.get("/v1/recalls/r1").await;
    assert!(!recall.to_string().contains("Hawaii"), "{recall}");
    assert_eq!(recall["candidates"][0]["memory_id"], id);
}

#[tokio::test]
async fn one_question_says_why_a_text_was_not_shown() {
    let server = Server::start().await;
    let why = async |body: Value| {
        let (status, answer) = server.post("/v1/memory/why", body).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer
    };
    let told = why(json!({"user_id": "ann", "text": BUDGET})).await;
    assert_eq!((&told["answer"], &told["reason"]), (&json!("never_stored"), &Value::Null));
    let secret = json!({"user_id": "ann", "text": "My password is Nebel_Kraehe7"});
    let told = why(secret).await;
    assert_eq!((&told["answer"], &told["reason"]), (&json!("never_stored"), &json!("secret")));

    let id = server.remember("ann", BUDGET).await;
    let text = json!({"user_id": "ann", "text": "my budget for the Hawaii trip is $10,000"});
    assert_eq!(why(text.clone()).await["answer"], "not_asked");
    server.ask("ann", "cut", QUESTION, 1.0).await;
    let told = why(text.clone()).await;
    assert_eq!((&told["answer"], &told["reason"]), (&json!("cut"), &json!("threshold")));
    assert_eq!((&told["memory"]["id"], &told["threshold"]), (&json!(id), &json!(1.0)));
    assert!(told["score"].as_f64().unwrap() < 1.0);
    server.ask("ann", "shown", QUESTION, 0.1).await;
    let told = why(text.clone()).await;
    assert_eq!((&told["answer"], &told["request_id"]), (&json!("presented"), &json!("shown")));
    let of = |request: &str| json!({"user_id": "ann", "text": BUDGET, "request_id": request});
    assert_eq!(why(of("cut")).await["answer"], "cut");
    let (status, _) = server.post("/v1/memory/why", of("unknown")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let anew = json!({"user_id": "ann", "text": BUDGET, "query": QUESTION});
    let told = why(anew).await;
    assert!(["presented", "cut"].contains(&told["answer"].as_str().unwrap()), "{told}");
    assert!(told["score"].is_number(), "{told}");
    let empty = server.post("/v1/memory/why", json!({"user_id": "ann", "text": ""})).await;
    assert_eq!(error(&empty), (400, "invalid_value", Some("text")));
}

#[tokio::test]
async fn a_text_that_its_turn_is_presented_for_is_presented() {
    let server = Server::start().await;
    server.talk_of("r7", "ann", &format!("{BUDGET}."));
    server.post("/v1/memory/flush", json!({"user_id": "ann"})).await;
    server.ask("ann", "asked", QUESTION, 0.1).await;
    let (_, recall) = server.get("/v1/recalls/asked").await;
    let outcomes = recall["candidates"].as_array().unwrap().iter().map(|it| &it["outcome"]);
    let outcomes: Vec<&Value> = outcomes.collect();
    assert_eq!(outcomes, ["presented", "collapsed"], "{recall}");
    let (_, told) = server.post("/v1/memory/why", json!({"user_id": "ann", "text": BUDGET})).await;
    assert_eq!((&told["answer"], &told["request_id"]), (&json!("presented"), &json!("asked")));
}

#[tokio::test]
async fn a_turn_says_what_was_kept_and_what_was_refused_and_why() {
    let server = Server::start().await;
    let said = "I moved to Lyon last week. My password is Nebel_Kraehe7.";
    server.talk_of("r7", "ann", said);
    server.post("/v1/memory/flush", json!({"user_id": "ann"})).await;
    let (status, turn) = server.get("/v1/turns/r7").await;
    assert_eq!(status, StatusCode::OK, "{turn}");
    let events = turn["events"].as_array().unwrap();
    let has = |became: &str, reason: Value| {
        events.iter().any(|it| it["became"] == became && it["reason"] == reason)
    };
    assert!(has("redacted", json!("passwords")) || has("refused", json!("secret")), "{turn}");
    assert!(
        events.iter().any(|it| it["became"] == "kept" && it["memory_id"].is_string()),
        "{turn}"
    );
    assert!(!turn.to_string().contains("Lyon") && !turn.to_string().contains("Nebel"), "{turn}");
    let by_its_own = format!("/v1/turns/{}", turn["id"].as_str().unwrap());
    assert_eq!(server.get(&by_its_own).await.1, turn);
}

/// The next event of a stream: its name and data.
async fn event(stream: &mut reqwest::Response) -> (String, Value) {
    let mut text = String::new();
    while !text.contains("\n\n") {
        let piece = tokio::time::timeout(Duration::from_secs(60), stream.chunk()).await;
        text += str::from_utf8(&piece.unwrap().unwrap().unwrap()).unwrap();
    }
    let member = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    (member("event: ").to_owned(), serde_json::from_str(member("data: ")).unwrap())
}

#[tokio::test]
async fn decisions_are_streamed_to_those_who_reach_their_user() {
    let server = Server::start().await;
    server.remember("ann", BUDGET).await;
    let open = async |path: &str| server.request(Method::GET, path).send().await.unwrap();
    let mut anns = open("/v1/decisions/stream?user_id=ann").await;
    let mut all = open("/admin/decisions/stream").await;
    assert_eq!(anns.headers()["content-type"], "text/event-stream");
    server.ask("bob", "r1", QUESTION, 0.1).await;
    server.ask("ann", "r2", QUESTION, 0.1).await;
    let (name, decision) = event(&mut anns).await;
    assert_eq!((&*name, &decision["request_id"]), ("decision", &json!("r2")));
    assert_eq!((&decision["decision"], &decision["presented"]), (&json!("searched"), &json!(1)));
    assert!(!decision.to_string().contains("Hawaii"), "{decision}");
    assert_eq!(event(&mut all).await.1["request_id"], "r1");
    let (_, latest) = server.get("/admin/decisions?limit=1").await;
    assert_eq!(latest["decisions"], json!([decision]));
    assert_eq!(open("/v1/decisions/stream").await.status(), StatusCode::BAD_REQUEST);
    server.operations.streams.end();
    assert_eq!(anns.chunk().await.unwrap(), None);
    drop((anns, all));
    server.stop().await;
}

#[tokio::test]
async fn a_revoked_key_reads_no_further_event() {
    let server = Server::start().await;
    for whose in [json!({"name": "ann", "user_id": "ann"}), json!({"name": "all"})] {
        let mut body = whose;
        body["scopes"] = json!(["read"]);
        let (status, key) = server.post("/admin/keys", body).await;
        assert_eq!(status, StatusCode::CREATED, "{key}");
        let open = server.request(Method::GET, "/v1/decisions/stream?user_id=ann");
        let open = open.bearer_auth(key["key"].as_str().unwrap());
        let mut stream = open.send().await.unwrap();
        assert_eq!(stream.status(), StatusCode::OK);
        server.ask("ann", "before", QUESTION, 0.1).await;
        assert_eq!(event(&mut stream).await.1["request_id"], "before");
        let revoked = server.delete(&format!("/admin/keys/{}", key["id"])).await;
        assert_eq!(revoked.0, StatusCode::OK);
        server.ask("ann", "after", QUESTION, 0.1).await;
        assert_eq!(stream.chunk().await.unwrap(), None);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_user_has_two_streams_and_leaves_operators_theirs() {
    let server = Server::start().await;
    let key = async |user: &str| {
        let body = json!({"name": user, "scopes": ["read"], "user_id": user});
        server.post("/admin/keys", body).await.1["key"].as_str().unwrap().to_owned()
    };
    let (anns, bobs) = (key("ann").await, key("bob").await);
    let open = async |key: &str, path: &str| {
        server.request(Method::GET, path).bearer_auth(key).send().await.unwrap()
    };
    let (of_ann, of_bob) = ("/v1/decisions/stream?user_id=ann", "/v1/decisions/stream?user_id=bob");
    let streams = [open(&anns, of_ann).await, open(&anns, of_ann).await];
    assert!(streams.iter().all(|stream| stream.status() == StatusCode::OK));
    let third = open(&anns, of_ann).await;
    assert_eq!(third.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(third.headers()["retry-after"], "1");
    let others = [
        open(&bobs, of_bob).await,
        open(KEY, of_ann).await,
        open(KEY, "/admin/decisions/stream").await,
    ];
    assert!(others.iter().all(|stream| stream.status() == StatusCode::OK));
    server.operations.streams.end();
    drop((streams, others));
    server.stop().await;
}

#[tokio::test]
async fn streams_are_bounded_in_number() {
    let server = Server::start().await;
    let open =
        async || server.request(Method::GET, "/admin/decisions/stream").send().await.unwrap();
    let mut streams = Vec::new();
    for _ in 0..32 {
        streams.push(open().await);
        assert_eq!(streams.last().unwrap().status(), StatusCode::OK);
    }
    assert_eq!(open().await.status(), StatusCode::SERVICE_UNAVAILABLE);
    server.operations.streams.end();
    drop(streams);
    server.stop().await;
}
