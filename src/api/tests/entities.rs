use crate::api::tests::*;

#[tokio::test]
async fn mentions_are_stored_shown_and_searchable() {
    let server = Server::start().await;
    let mentions = json!([{"name": "Ana", "type": "person"}, {"name": "Helio"}]);
    let relations = json!([{"subject": "Ana", "predicate": "works_at", "object": "Helio"}]);
    let body = json!({
        "user_id": "u", "content": "My sister Ana works at Helio",
        "mentions": mentions, "entity_relations": relations,
    });
    let (status, stored) = server.post("/v1/memory", body).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(stored["mentions"], mentions);
    assert_eq!(stored["entity_relations"], relations);
    server.remember("u", "My sister works at home").await;
    let search = json!({
        "user_id": "u", "query": "my sister works", "threshold": 0.0, "filter": {"entity": "HELIO"},
    });
    let (status, found) = server.post("/v1/memory/search", search).await;
    assert_eq!(status, StatusCode::OK);
    let hits = found["hits"].as_array().unwrap();
    assert_eq!((hits.len(), &hits[0]["memory"]["id"]), (1, &stored["id"]));
    let (_, listed) = server.get("/v1/memory?user_id=u&entity=%20ana").await;
    assert_eq!(listed["memories"], json!([stored]));
    let (_, listed) = server.get("/v1/memory?user_id=other&entity=Ana").await;
    assert_eq!(listed["memories"], json!([]));
    server.stop().await;
}

#[tokio::test]
async fn a_new_content_keeps_only_the_entities_it_mentions() {
    let server = Server::start().await;
    let body = json!({
        "user_id": "u", "content": "My sister Ana works at Helio",
        "mentions": [{"name": "Ana"}, {"name": "Helio"}],
        "entity_relations": [{"subject": "Ana", "predicate": "works_at", "object": "Helio"}],
    });
    let (_, stored) = server.post("/v1/memory", body).await;
    let path = format!("/v1/memory/{}?user_id=u", stored["id"].as_str().unwrap());
    let (status, changed) = server.patch(&path, json!({"importance": 0.9})).await;
    assert_eq!((status, &changed["mentions"]), (StatusCode::OK, &stored["mentions"]));
    let content = json!({"content": "My sister ANA retired"});
    let (_, changed) = server.patch(&path, content).await;
    assert_eq!(changed["mentions"], json!([{"name": "Ana"}]));
    assert!(changed.get("entity_relations").is_none());
    let given = json!({"mentions": [{"name": "Anabel"}]});
    let (_, changed) = server.patch(&path, given.clone()).await;
    assert_eq!(changed["mentions"], given["mentions"]);
    server.stop().await;
}

#[tokio::test]
async fn entity_names_are_limited_and_screened() {
    let server = Server::start().await;
    let with = |member: &str, value: Value| {
        let mut body = json!({"user_id": "u", "content": "x"});
        body[member] = value;
        body
    };
    for (member, value) in [
        ("mentions", json!([{"name": ""}])),
        ("mentions", json!([{"name": "x".repeat(300)}])),
        ("mentions", json!(vec![json!({"name": "x"}); 65])),
        ("entity_relations", json!([{"subject": "a", "predicate": " ", "object": "b"}])),
    ] {
        let (status, error) = server.post("/v1/memory", with(member, value)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{error}");
        assert_eq!(error["error"]["param"], member, "{error}");
    }
    let secret = json!([{"name": "password: Moss!Hill9x"}]);
    let (status, stored) = server.post("/v1/memory", with("mentions", secret)).await;
    assert_eq!(status, StatusCode::CREATED);
    assert!(!stored.to_string().contains("Moss"), "{stored}");
    server.stop().await;
}
