//! The audit log: every change is in it, and no content.

use crate::api::tests::*;

const CONTENT: &str = "zanzibar is where I want to go";

async fn entries(server: &Server, query: &str) -> Vec<Value> {
    let (status, found) = server.get(&format!("/admin/audit?{query}")).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    found["entries"].as_array().unwrap().clone()
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_change_is_in_the_log_without_content_and_stays_after_erasure() {
    let server = Server::start().await;
    let id = server.remember("u", CONTENT).await;
    let one = format!("/v1/memory/{id}?user_id=u");
    server.patch(&one, json!({"content": format!("{CONTENT} soon"), "tags": ["zanzibar"]})).await;
    server.post("/v1/memory/flush", json!({"user_id": "u"})).await;
    server.post("/v1/jobs/retry", json!({"user_id": "u"})).await;
    let request = server.request(Method::DELETE, &one).header("x-request-id", "req-7");
    assert_eq!(server.send(request).await.0, StatusCode::OK);
    server.remember("u", CONTENT).await;
    server.delete("/v1/memory?user_id=u&project_id=zanzibar").await;
    server.delete("/v1/memory?user_id=u").await;
    let found = entries(&server, "user_id=u").await;
    let expected = [
        "scope.erase",
        "scope.erase",
        "memory.create",
        "memory.erase",
        "job.retry",
        "memory.flush",
        "memory.change",
        "memory.create",
    ];
    assert_eq!(actions(&found), expected);
    let erased = &found[3];
    assert_eq!(erased["actor"], "configured_key");
    assert_eq!((&erased["request_id"], &erased["target"]), (&json!("req-7"), &json!(id)));
    assert_eq!(
        (&erased["user_ref"], &erased["tenant_id"]),
        (&found[0]["user_ref"], &json!("default"))
    );
    assert!(erased["user_ref"].is_string());
    assert!(!json!(found).to_string().contains("zanzibar"));
    assert_eq!(entries(&server, "user_id=other").await, Vec::<Value>::new());
    let folder = server._folder.path().to_owned();
    for file in ["access.db", "access.db-wal"] {
        let bytes = std::fs::read(folder.join(file)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("zanzibar"), "{file}");
    }
    server.stop().await;
}

#[tokio::test]
async fn reading_changes_nothing_in_the_log() {
    let server = Server::start().await;
    let id = server.remember("u", CONTENT).await;
    server.get("/v1/memory?user_id=u").await;
    server.get(&format!("/v1/memory/{id}?user_id=u")).await;
    server.get("/admin/jobs").await;
    let missing = server.delete("/v1/memory/mem_x?user_id=u").await;
    assert_eq!(missing.0, StatusCode::NOT_FOUND);
    assert_eq!(actions(&entries(&server, "").await), ["memory.create"]);
    server.stop().await;
}

#[tokio::test]
async fn the_log_names_the_key_and_is_paged() {
    let server = Server::start().await;
    let (_, made) = server.post("/admin/keys", json!({"name": "k", "scopes": ["write"]})).await;
    let body = json!({"user_id": "u", "content": CONTENT});
    let own = Client::builder().no_proxy().build().unwrap();
    let request = own.post(format!("{}/v1/memory", server.origin)).json(&body);
    let request = request.bearer_auth(made["key"].as_str().unwrap());
    assert_eq!(server.send(request).await.0, StatusCode::CREATED);
    let (_, page) = server.get("/admin/audit?limit=1").await;
    assert_eq!(page["entries"][0]["actor"], json!(format!("key:{}", made["id"])));
    let next = page["next_cursor"].as_str().unwrap();
    let (_, page) = server.get(&format!("/admin/audit?limit=1&cursor={next}")).await;
    assert_eq!(
        (&page["entries"][0]["action"], &page["next_cursor"]),
        (&json!("key.create"), &Value::Null)
    );
    server.stop().await;
}
