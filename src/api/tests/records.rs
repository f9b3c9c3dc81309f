//! Whole records, history, counts, deletion by filter, and the headers of requests on one memory.

use crate::api::tests::*;
use memgate_core::memory::{Actor, Memory, MemoryId, MemoryType, Source, Write};

/// A filter as a query holds it.
pub(super) fn in_query(filter: &Value) -> String {
    let mut url = reqwest::Url::parse("http://h").unwrap();
    url.query_pairs_mut().append_pair("filter", &filter.to_string());
    url.query().unwrap().to_owned()
}

async fn kept(server: &Server, content: &str, tag: &str) -> String {
    let body = json!({"user_id": "u", "content": content, "tags": [tag]});
    let (status, memory) = server.post("/v1/memory", body).await;
    assert_eq!(status, StatusCode::CREATED, "{memory}");
    memory["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn lists_and_counts_take_every_filter_in_the_query() {
    let server = Server::start().await;
    kept(&server, "likes tea", "drink").await;
    let old = kept(&server, "likes milk", "drink").await;
    kept(&server, "lives in Oslo", "place").await;
    server.patch(&format!("/v1/memory/{old}?user_id=u"), json!({"status": "archived"})).await;
    for (filter, expected) in [
        (json!({"tag": "drink"}), 1),
        (json!({"or": [{"tag": "drink"}, {"text": "OSLO"}]}), 2),
        (json!({"and": [{"tag": "drink"}, {"status": ["archived"]}]}), 1),
        (json!({"session": "s"}), 0),
    ] {
        let query = format!("user_id=u&{}", in_query(&filter));
        let (_, page) = server.get(&format!("/v1/memory?{query}")).await;
        assert_eq!(page["memories"].as_array().unwrap().len(), expected, "{filter}");
        let counted = server.get(&format!("/v1/memory/count?{query}")).await;
        assert_eq!(counted, (StatusCode::OK, json!({"count": expected})), "{filter}");
    }
    assert_eq!(server.get("/v1/memory/count?user_id=u").await.1, json!({"count": 2}));
    assert_eq!(server.get("/v1/memory/count?user_id=u&status=archived").await.1["count"], 1);
    let (_, stats) = server.get("/v1/memory/stats?user_id=u").await;
    assert_eq!(
        (&stats["by_status"]["active"], &stats["by_status"]["archived"]),
        (&json!(2), &json!(1))
    );
    for (query, param) in [
        ("filter=%7B".to_owned(), "filter"),
        ("filter=tea".to_owned(), "filter"),
        ("filter=null".to_owned(), "filter"),
        (in_query(&json!({"and": [{"colour": "red"}]})), "filter.and[0].colour"),
    ] {
        let refused = server.get(&format!("/v1/memory?user_id=u&{query}")).await;
        assert_eq!(error(&refused), (400, "invalid_value", Some(param)), "{query}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_search_without_a_query_shows_the_newest_that_meet_the_filter() {
    let server = Server::start().await;
    for (content, tag) in
        [("likes tea", "drink"), ("lives in Oslo", "place"), ("likes milk", "drink")]
    {
        kept(&server, content, tag).await;
    }
    let ask = |more: Value| {
        let mut body = json!({"user_id": "u"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/memory/search", body)
    };
    let (status, found) = ask(json!({"filter": {"tag": "drink"}})).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    let hits = found["hits"].as_array().unwrap();
    let shown: Vec<_> = hits.iter().map(|hit| (&hit["memory"]["content"], &hit["score"])).collect();
    assert_eq!(shown, [(&json!("likes milk"), &Value::Null), (&json!("likes tea"), &Value::Null)]);
    assert_eq!(ask(json!({"limit": 1})).await.1["hits"].as_array().unwrap().len(), 1);
    assert_eq!(ask(json!({"types": ["episodic"]})).await.1, json!({"hits": []}));
    let threshold = ask(json!({"threshold": 0.5})).await;
    assert_eq!(error(&threshold), (400, "invalid_value", Some("threshold")));
    server.stop().await;
}

#[tokio::test]
async fn a_record_has_the_words_that_the_memory_was_made_of() {
    let server = Server::start().await;
    server.talk_in("s", "u").await;
    server.post("/v1/memory/flush", json!({"user_id": "u"})).await;
    let (_, page) = server.get("/v1/memory?user_id=u").await;
    let memory = &page["memories"][0];
    let path = format!("/v1/memory/{}/record?user_id=u", memory["id"].as_str().unwrap());
    let (status, record) = server.get(&path).await;
    assert_eq!(status, StatusCode::OK, "{record}");
    assert_eq!(record["content"], memory["content"]);
    let said = &record["provenance"]["turns"][0];
    assert_eq!(
        (&said["session_id"], &said["user"]),
        (&json!("s"), &json!("I moved to Lyon last week"))
    );
    assert_eq!(said["assistant"], "I see.");
    assert_eq!(record["visibility"], json!({"kind": "private"}));
    assert_eq!(record["spaces"].as_array().unwrap().len(), 1);
    assert!(record["relations"].is_array());
    for of in ["user_id=v", "user_id=u&tenant_id=t"] {
        let other = path.replace("user_id=u", of);
        assert_eq!(error(&server.get(&other).await), (404, "not_found", None));
    }
    server.stop().await;
}

#[tokio::test]
async fn a_history_tells_what_each_version_changed() {
    let server = Server::start().await;
    let id = kept(&server, "likes tea", "drink").await;
    let path = format!("/v1/memory/{id}?user_id=u");
    server.patch(&path, json!({"content": "likes milk", "confidence": 0.5})).await;
    server.patch(&path, json!({"status": "archived"})).await;
    let (status, history) = server.get(&format!("/v1/memory/{id}/history?user_id=u")).await;
    assert_eq!(status, StatusCode::OK, "{history}");
    let versions = history["versions"].as_array().unwrap();
    let numbers: Vec<_> = versions.iter().map(|it| it["memory"]["version"].clone()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!(
        versions[0]["changes"],
        json!([{"member": "status", "from": "active", "to": "archived"}])
    );
    assert_eq!(
        versions[1]["changes"],
        json!([
            {"member": "confidence", "from": null, "to": 0.5},
            {"member": "content", "from": "likes tea", "to": "likes milk"},
        ])
    );
    assert_eq!(versions[2]["changes"], json!([]));
    let other = server.get(&format!("/v1/memory/{id}/history?user_id=v")).await;
    assert_eq!(error(&other), (404, "not_found", None));
    server.stop().await;
}

#[tokio::test]
async fn if_match_takes_the_etag_and_refuses_another_version() {
    let server = Server::start().await;
    let id = kept(&server, "likes tea", "drink").await;
    let path = format!("/v1/memory/{id}?user_id=u");
    let etag = async || {
        let answer = server.request(Method::GET, &path).send().await.unwrap();
        answer.headers()["etag"].to_str().unwrap().to_owned()
    };
    let patch = |tag: &str, body: Value| {
        server.send(server.request(Method::PATCH, &path).header("if-match", tag).json(&body))
    };
    let read = etag().await;
    assert_eq!(read, "\"1\"");
    assert_eq!(patch(&read, json!({"content": "likes milk"})).await.1["version"], 2);
    assert_eq!(etag().await, "\"2\"");
    let stale = patch(&read, json!({"content": "likes water"})).await;
    assert_eq!(error(&stale), (412, "precondition_failed", Some("If-Match")));
    let both = patch("\"2\"", json!({"content": "likes water", "version": 1})).await;
    assert_eq!(error(&both), (400, "invalid_value", Some("version")));
    for bad in ["2", "\"two\"", "*", ""] {
        let refused = patch(bad, json!({"content": "likes water"})).await;
        assert_eq!(error(&refused), (400, "invalid_value", Some("If-Match")), "{bad}");
    }
    assert_eq!(server.get(&path).await.1["content"], "likes milk");
    server.stop().await;
}

#[tokio::test]
async fn a_memory_is_stored_once_for_one_idempotency_key() {
    let server = Server::start().await;
    let create = |key: &str, user: &str, content: &str| {
        let body = json!({"user_id": user, "content": content});
        let request = server.request(Method::POST, "/v1/memory").header("idempotency-key", key);
        server.send(request.json(&body))
    };
    let (status, first) = create("k-1", "u", "likes tea").await;
    assert_eq!(status, StatusCode::CREATED, "{first}");
    assert_eq!(create("k-1", "u", "likes tea").await, (StatusCode::CREATED, first.clone()));
    let (a, b) = tokio::join!(create("k-2", "u", "likes milk"), create("k-2", "u", "likes milk"));
    assert_eq!((a.0, &a.1["id"]), (StatusCode::CREATED, &b.1["id"]));
    let reused = create("k-1", "u", "likes water").await;
    assert_eq!(error(&reused), (422, "idempotency_key_reused", Some("Idempotency-Key")));
    assert_ne!(create("k-1", "v", "likes water").await.1["id"], first["id"]);
    assert_eq!(
        create("k-3", "u", "Call me Sam").await.1,
        create("k-3", "u", "Call me Sam").await.1
    );
    assert_eq!(server.get("/v1/memory/count?user_id=u").await.1["count"], 3);
    for bad in ["", "two words", &"x".repeat(256)] {
        let refused = create(bad, "u", "likes tea").await;
        assert_eq!(error(&refused), (400, "invalid_value", Some("Idempotency-Key")), "{bad}");
    }
    // A deleted memory frees its key.
    server.delete(&format!("/v1/memory/{}?user_id=u", first["id"].as_str().unwrap())).await;
    assert_eq!(create("k-1", "u", "likes water").await.0, StatusCode::CREATED);
    server.stop().await;
}

#[tokio::test]
async fn a_deletion_by_filter_covers_every_status_and_a_dry_run_only_counts() {
    let server = Server::start().await;
    for number in 0..3 {
        kept(&server, &format!("drink {number}"), "drink").await;
    }
    let old = kept(&server, "drink of old", "drink").await;
    server.patch(&format!("/v1/memory/{old}?user_id=u"), json!({"status": "superseded"})).await;
    kept(&server, "lives in Oslo", "place").await;
    server.remember("v", "drink").await;
    let path = format!("/v1/memory?user_id=u&{}", in_query(&json!({"tag": "drink"})));
    let counted = json!({"deleted": 4, "dry_run": true});
    assert_eq!(server.delete(&format!("{path}&dry_run=true")).await, (StatusCode::OK, counted));
    let all = server.delete("/v1/memory?user_id=u&dry_run=true").await.1;
    assert_eq!(all, json!({"deleted": 5, "dry_run": true}));
    assert_eq!(server.delete(&path).await, (StatusCode::OK, json!({"deleted": 4})));
    assert_eq!(server.delete(&path).await.1, json!({"deleted": 0}));
    assert_eq!(server.get("/v1/memory/count?user_id=u").await.1["count"], 1);
    assert_eq!(server.get("/v1/memory/count?user_id=v").await.1["count"], 1);
    for unset in ["filter=null", "filter=%5B%5D", "filter="] {
        let refused = server.delete(&format!("/v1/memory?user_id=u&{unset}")).await;
        assert_eq!(error(&refused), (400, "invalid_value", Some("filter")), "{unset}");
    }
    assert_eq!(server.get("/v1/memory/count?user_id=u").await.1["count"], 1);
    let active = format!("{path}&status=active");
    assert_eq!(server.delete(&active).await.1, json!({"deleted": 0}));
    server.stop().await;
}

#[tokio::test]
async fn a_deletion_by_filter_reaches_what_has_expired() {
    let store = Arc::new(InMemoryStore::new());
    let server = Server::with(store.clone(), Some(KEY)).await;
    let (id, owner) = (MemoryId::fresh(), Owner::of_user("u").unwrap());
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut memory = Memory::new(id, owner, kind, "drinks tea", Source::ExternalData, began);
    memory.tags = vec!["drink".to_owned()];
    memory.expires_at = Some("2026-02-01T00:00:00Z".parse().unwrap());
    store.store(memory, Vec::new(), &Write::by(Actor::Api, "test")).await.unwrap();
    let path = format!("/v1/memory?user_id=u&{}", in_query(&json!({"tag": "drink"})));
    assert_eq!(server.get(&path).await.1["memories"], json!([]));
    let counted = json!({"deleted": 1, "dry_run": true});
    assert_eq!(server.delete(&format!("{path}&dry_run=true")).await.1, counted);
    assert_eq!(server.delete(&path).await.1, json!({"deleted": 1}));
    assert_eq!(server.delete(&path).await.1, json!({"deleted": 0}));
    server.stop().await;
}
