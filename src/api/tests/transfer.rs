use jiff::SignedDuration;

use crate::api::tests::*;
use memgate_core::memory::{Actor, Embedding, Memory, MemoryId, MemoryType, Source, Status, Write};

const LINES: &str = "application/x-ndjson";

impl Server {
    async fn lines(&self, path: &str) -> Vec<Value> {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()["content-type"], LINES);
        let text = answer.text().await.unwrap();
        assert!(text.ends_with('\n'));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    async fn import(&self, path: &str, lines: &[Value]) -> (StatusCode, Value) {
        let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        self.import_text(path, text.concat()).await
    }

    async fn import_text(&self, path: &str, text: String) -> (StatusCode, Value) {
        let request = self.request(Method::POST, path).header("content-type", LINES);
        self.send(request.body(text)).await
    }

    async fn has(&self, user: &str) -> Value {
        self.get(&format!("/v1/memory?user_id={user}")).await.1["memories"].clone()
    }
}

/// Counts of an import: written, same, differs, refused.
fn counts(answer: &(StatusCode, Value)) -> [u64; 4] {
    assert_eq!(answer.0, StatusCode::OK, "{}", answer.1);
    ["written", "same", "differs", "refused"].map(|name| answer.1[name].as_u64().unwrap())
}

/// Lines and fields that an import reported.
fn problems(answer: &(StatusCode, Value)) -> Vec<(u64, &str)> {
    let problems = answer.1["problems"].as_array().unwrap().iter();
    problems.map(|p| (p["line"].as_u64().unwrap(), p["field"].as_str().unwrap_or(""))).collect()
}

#[tokio::test]
async fn an_export_is_imported_once() {
    let (from, to) = (Server::start().await, Server::start().await);
    let id = from.remember("alice", "My dog is called Rex").await;
    let path = format!("/v1/memory/{id}?user_id=alice");
    from.patch(&path, json!({"content": "My dog is called Max"})).await;
    from.remember("alice", "I live in Lyon").await;
    from.remember("bob", "I live in Rome").await;
    let hers = from.lines("/v1/memory/export?user_id=alice").await;
    assert_eq!(hers.len(), 4);
    assert_eq!(hers[0]["export"]["owner"], json!({"tenant": "default", "user": "alice"}));
    assert_eq!(hers[3], json!({"end": true}));
    let answer = to.import("/v1/memory/import?user_id=alice", &hers).await;
    assert_eq!((counts(&answer), &answer.1["complete"]), ([2, 0, 0, 0], &json!(true)));
    assert_eq!(to.has("alice").await, from.has("alice").await);
    assert_eq!(to.lines("/v1/memory/export?user_id=alice").await[1..], hers[1..]);
    let again = to.import("/v1/memory/import?user_id=alice", &hers).await;
    assert_eq!((counts(&again), problems(&again)), ([0, 2, 0, 0], vec![]));
    to.patch(&path, json!({"importance": 1.0})).await;
    let changed = to.import("/v1/memory/import?user_id=alice", &hers).await;
    assert_eq!(counts(&changed), [0, 1, 1, 0]);
    assert_eq!(problems(&changed)[0].1, "memory.id");
    // With the key, for all users.
    let all = from.lines("/admin/memory/export").await;
    assert_eq!((all.len(), all[0]["export"].get("owner")), (5, None));
    let answer = to.import("/admin/memory/import", &all).await;
    assert_eq!(counts(&answer), [1, 1, 1, 0]);
    assert_eq!(to.has("bob").await, from.has("bob").await);
    from.stop().await;
    to.stop().await;
}

#[tokio::test]
async fn an_export_resumes_after_a_mark_with_or_without_vectors() {
    let server = Server::start().await;
    for number in 0..5 {
        server.remember("alice", &format!("Fact number {number}")).await;
    }
    let whole = server.lines("/v1/memory/export?user_id=alice").await;
    assert!(whole[1]["vectors"][0]["values"].is_string());
    for export in ["/v1/memory/export?user_id=alice&", "/admin/memory/export?"] {
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let piece = server.lines(&format!("{export}limit=2{after}")).await;
            let (last, memories) = piece[1..].split_last().unwrap();
            found.extend_from_slice(memories);
            let Some(mark) = last["mark"].as_str() else { break };
            assert_eq!(memories.len(), 2);
            after = format!("&after={mark}");
        }
        assert_eq!(found, whole[1..6]);
    }
    let bare = server.lines("/v1/memory/export?user_id=alice&vectors=false").await;
    assert_eq!(
        (bare[0]["export"]["vectors"].clone(), bare[1].get("vectors")),
        (json!(false), None)
    );
    assert_eq!(bare[1]["memory"], whole[1]["memory"]);
    let to = Server::start().await;
    assert_eq!(counts(&to.import("/admin/memory/import", &bare).await), [5, 0, 0, 0]);
    // They are embedded there.
    let embedded = async {
        while to.get("/v1/memory/stats?user_id=alice").await.1["embedded"] != 5 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), embedded).await.unwrap();
    assert_eq!(counts(&server.import("/admin/memory/import", &bare).await), [0, 5, 0, 0]);
    for (path, param) in [
        ("/v1/memory/export", "user_id"),
        ("/v1/memory/export?user_id=alice&limit=0", "limit"),
        ("/v1/memory/export?user_id=alice&after=x", "after"),
        ("/v1/memory/export?user_id=alice&after=default/bob/x", "after"),
        ("/admin/memory/export?user_id=alice", "user_id"),
        ("/admin/memory/export?limit=1001", "limit"),
    ] {
        assert_eq!(error(&server.get(path).await), (400, "invalid_value", Some(param)), "{path}");
    }
    server.stop().await;
    to.stop().await;
}

#[tokio::test]
async fn invalid_lines_are_reported_and_the_rest_is_imported() {
    let server = Server::start().await;
    server.remember("alice", "I live in Lyon").await;
    server.remember("bob", "I live in Rome").await;
    let lines = server.lines("/admin/memory/export").await;
    let line = |change: &dyn Fn(&mut Value)| {
        let mut line = lines[1].clone();
        line["memory"]["id"] = json!("new");
        change(&mut line);
        line.to_string()
    };
    let length = |line: &mut Value| line["vectors"][0]["values"] = json!("AAAAQA==");
    let text = [
        lines[0].to_string(),
        line(&|line| line["memory"]["importance"] = json!(2)),
        String::new(),
        line(&|line| line["memory"]["type"] = json!("gossip")),
        "{\"memory\":".into(),
        line(&|line| line["memory"]["content"] = json!(" ")),
        line(&|line| line["memory"]["new_member"] = json!(1)),
        line(&length),
        line(&|line| line["history"] = json!([lines[2]["memory"]])),
        line(&|line| line["memory"]["project_id"] = json!("")),
        lines[2].to_string(),
        line(&|line| line["memory"]["content"] = json!("taken")),
    ];
    let answer = server.import_text("/v1/memory/import?user_id=alice", text.join("\n")).await;
    assert_eq!(counts(&answer), [1, 0, 0, 9]);
    assert_eq!(answer.1["complete"], false);
    let expected = [
        (2, "memory.importance"),
        (4, "memory.type"),
        (5, ""),
        (6, "memory.content"),
        (7, "memory.new_member"),
        (8, "vectors[0].values"),
        (9, "history"),
        (10, "memory.project_id"),
        (11, "memory.owner"),
    ];
    assert_eq!(problems(&answer), expected, "{}", answer.1);
    assert_eq!(server.has("alice").await.as_array().unwrap().len(), 2);
    assert_eq!(server.has("bob").await.as_array().unwrap().len(), 1);
    let many = vec![json!({"x": 1}); 150];
    let answer = server.import("/admin/memory/import", &[&lines[..1], &many].concat()).await;
    assert_eq!((counts(&answer)[3], problems(&answer).len()), (150, 100));
    server.stop().await;
}

#[tokio::test]
async fn refuses_a_body_that_is_not_an_export() {
    let server = Server::start().await;
    server.remember("alice", "I live in Lyon").await;
    let lines = server.lines("/admin/memory/export").await;
    let mut older = lines.clone();
    older[0]["export"]["format"] = json!(1);
    for lines in [&lines[1..], &older, &[json!([])], &[]] {
        let answer = server.import("/admin/memory/import", lines).await;
        assert_eq!(error(&answer).0, 400, "{}", answer.1);
    }
    let request = server.request(Method::POST, "/admin/memory/import");
    let answer = server.send(request.json(&lines[0])).await;
    assert_eq!(error(&answer), (415, "unsupported_media_type", None));
    let answer = server.import("/v1/memory/import", &lines).await;
    assert_eq!(error(&answer), (400, "invalid_value", Some("user_id")));
    server.stop().await;
}

#[tokio::test]
async fn imported_memories_are_screened_and_counted() {
    let server = Server::start().await;
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    let owner = Owner::of_user("alice").unwrap();
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    let text = format!("My key is {secret} for it");
    let source = Source::ExternalData;
    let id = MemoryId::from_outside("m");
    let first = Memory::new(id, owner.clone(), kind, text.clone(), source, now);
    let memory = Memory {
        raw: Some(text.clone()),
        structured: Some(json!({"text": text})),
        metadata: json!({"note": [text]}).as_object().unwrap().clone(),
        tags: vec![text.clone()],
        status: Status::Archived,
        access_count: 9,
        version: 2,
        ..first.clone()
    };
    let space = server.operations.embedder.space().id().into();
    let values = [1.0].into_iter().chain([0.0; 63]).collect();
    let vectors = vec![Embedding { space, part: 0, values }];
    // Bypasses the screening, unlike anything from outside.
    let whole = memgate_core::memory::Whole { memory, history: vec![first], vectors };
    let write = Write::by(Actor::Api, "test");
    server.operations.store.restore(whole, &write).await.unwrap();
    let lines = server.lines("/v1/memory/export?user_id=alice").await;
    assert_eq!(lines[1].to_string().matches(secret).count(), 6);
    let to = Server::start().await;
    assert_eq!(counts(&to.import("/admin/memory/import", &lines).await), [1, 0, 0, 0]);
    let taken = to.lines("/v1/memory/export?user_id=alice").await;
    assert_eq!(taken[1]["memory"]["content"], "My key is [removed: token] for it");
    assert_eq!(taken[1]["memory"]["access_count"], 9);
    assert_eq!(taken[1]["memory"]["status"], "archived");
    assert!(!taken[1].to_string().contains(secret), "{}", taken[1]);
    assert_eq!(taken[1].get("vectors"), None, "they told of the secret as well");
    assert_eq!(counts(&to.import("/admin/memory/import", &lines).await), [0, 1, 0, 0]);
    server.stop().await;
    to.stop().await;
}

#[tokio::test]
async fn large_imports_are_streamed() {
    let server = Server::start().await;
    let id = server.remember("alice", "x").await;
    let mut lines = server.lines("/admin/memory/export").await;
    let template = lines[1].clone();
    for number in 0..40 {
        let mut line = template.clone();
        line["memory"]["id"] = json!(format!("{id}-{number}"));
        line["memory"]["content"] = json!("word ".repeat(20_000));
        line.as_object_mut().unwrap().remove("vectors");
        lines.insert(1, line);
    }
    assert_eq!(counts(&server.import("/admin/memory/import", &lines).await), [40, 1, 0, 0]);
    // Several pieces of the store in one response.
    assert_eq!(server.lines("/v1/memory/export?user_id=alice").await.len(), 1 + 41 + 1);
    server.stop().await;
}

#[tokio::test]
async fn a_store_failure_stops_an_import_and_reports_the_line() {
    let server = Server::start().await;
    server.remember("alice", "x").await;
    let lines = server.lines("/admin/memory/export").await;
    server.operations.store.close().await;
    let answer = server.import("/admin/memory/import", &lines).await;
    assert_eq!(error(&answer), (503, "store_unavailable", None));
    assert!(answer.1["error"]["message"].as_str().unwrap().starts_with("line 2: "));
    assert_eq!(error(&server.get("/admin/memory/export").await).0, 503);
    server.stop().await;
}

#[tokio::test]
async fn stats_count_a_users_memories_in_use() {
    let server = Server::start().await;
    for (user, content) in [("alice", "I live in Lyon"), ("alice", "x"), ("bob", "x")] {
        server.remember(user, content).await;
    }
    let body = json!({"user_id": "alice", "content": "How to bake", "type": "procedural"});
    let id = server.post("/v1/memory", body).await.1["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/memory/{id}?user_id=alice");
    server.patch(&path, json!({"status": "review"})).await;
    let (status, stats) = server.get("/v1/memory/stats?user_id=alice").await;
    assert_eq!(status, StatusCode::OK);
    let space = server.operations.embedder.space();
    let expected = json!({
        "total": 3,
        "embedded": 3,
        "review": 1,
        "by_type": {"semantic": 2, "procedural": 1, "episodic": 0, "reflective": 0},
        "by_status": {
            "active": 2, "review": 1, "superseded": 0, "quarantined": 0, "archived": 0, "forgotten": 0,
        },
        "model": space.model,
        "dimension": 64,
        "space": space.id(),
    });
    assert_eq!(stats, expected);
    server.patch(&path, json!({"status": "archived"})).await;
    let (_, stats) = server.get("/v1/memory/stats?user_id=alice").await;
    assert_eq!((&stats["total"], &stats["by_type"]["procedural"]), (&json!(2), &json!(0)));
    let nobody = server.get("/v1/memory/stats").await;
    assert_eq!(error(&nobody), (400, "invalid_value", Some("user_id")));
    server.stop().await;
}

#[tokio::test]
async fn nothing_is_imported_that_happened_in_the_future() {
    let server = Server::start().await;
    let id = server.remember("alice", "I live in Lyon").await;
    let exported = server.lines("/v1/memory/export?user_id=alice").await;
    let ahead =
        |minutes: i64| json!(server.operations.clock.now() + SignedDuration::from_mins(minutes));
    let line = |name: &str, member: &str, time: &Value| {
        let mut line = exported[1].clone();
        line["memory"]["id"] = json!(name);
        let mut at = &mut line["memory"];
        for member in member.split('.') {
            at = &mut at[member];
        }
        *at = time.clone();
        line
    };
    let mut past = line("past", "version", &json!(2));
    past["history"] = json!([exported[1]["memory"]]);
    past["history"][0]["id"] = json!("past");
    past["history"][0]["updated_at"] = ahead(60);
    let late = json!("9999-01-01T00:00:00Z");
    let lines = [
        exported[0].clone(),
        line("a", "created_at", &late),
        line("b", "updated_at", &ahead(60)),
        line("c", "last_accessed_at", &late),
        line("d", "provenance.said_at", &ahead(60)),
        past,
        line("clocks differ", "created_at", &ahead(2)),
        line("an appointment", "event_time", &late),
    ];
    let answer = server.import("/v1/memory/import?user_id=alice", &lines).await;
    assert_eq!(counts(&answer), [2, 0, 0, 5], "{}", answer.1);
    let expected = [
        (2, "memory.created_at"),
        (3, "memory.updated_at"),
        (4, "memory.last_accessed_at"),
        (5, "memory.provenance.said_at"),
        (6, "history[0].updated_at"),
    ];
    assert_eq!(problems(&answer), expected);
    let path = format!("/v1/memory/{id}?user_id=alice");
    // The calendar's last second is stored, and comes back without the parts of a microsecond.
    let patch = json!({"valid_until": "9999-12-30T22:00:00.999999999Z"});
    let (_, changed) = server.patch(&path, patch).await;
    assert_eq!(changed["valid_until"], "9999-12-30T22:00:00.999999Z", "{changed}");
    assert_eq!(server.get(&path).await.1["valid_until"], changed["valid_until"]);
    server.stop().await;
}
