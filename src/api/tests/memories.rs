use crate::api::tests::*;

#[tokio::test]
async fn a_memory_has_exactly_the_contracts_members() {
    let server = Server::start().await;
    let (status, full) = server
        .post(
            "/v1/memory",
            json!({
                "user_id": "auth0|1", "content": "likes tea", "type": "semantic", "project_id": "p",
                "agent_id": "a", "session_id": "s", "source": "explicit_user_input",
                "importance": 0.6, "confidence": 0.9, "tags": ["drink"], "metadata": {"k": [1]},
                "valid_from": "2026-01-01T00:00:00Z", "valid_until": "2027-01-01T00:00:00+01:00",
            }),
        )
        .await;
    assert_eq!(status, StatusCode::CREATED);
    let id = full["id"].clone();
    let (created, updated) = (full["created_at"].clone(), full["updated_at"].clone());
    assert!(created.as_str().unwrap().ends_with('Z'));
    assert_eq!(
        full,
        json!({
            "id": id, "type": "semantic", "content": "likes tea", "user_id": "auth0|1",
            "project_id": "p", "agent_id": "a", "session_id": "s", "source": "explicit_user_input",
            "status": "active", "importance": 0.6, "confidence": 0.9, "tags": ["drink"],
            "metadata": {"k": [1]}, "version": 1, "access_count": 0, "created_at": created,
            "updated_at": updated, "valid_from": "2026-01-01T00:00:00Z",
            "valid_until": "2026-12-31T23:00:00Z", "visibility": {"kind": "private"},
        })
    );
    let path = format!("/v1/memory/{}?user_id=auth0%7C1", id.as_str().unwrap());
    assert_eq!(server.get(&path).await, (StatusCode::OK, full));
    let id = server.remember("u", "bare").await;
    let (_, bare) = server.get(&format!("/v1/memory/{id}?user_id=u")).await;
    for absent in ["project_id", "agent_id", "tenant_id", "session_id", "valid_from"] {
        assert!(bare.get(absent).is_none(), "{absent}");
    }
    assert_eq!(bare["source"], "external_data");
    server.stop().await;
}

#[tokio::test]
async fn lists_are_newest_first_and_pages_join_without_gap_or_repetition() {
    let server = Server::start().await;
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.insert(0, server.remember("u", &format!("memory {number}")).await);
    }
    server.remember("other", "not yours").await;
    let mut seen = Vec::new();
    let mut path = "/v1/memory?user_id=u&limit=3".to_owned();
    let pages = loop {
        let (status, page) = server.get(&path).await;
        assert_eq!(status, StatusCode::OK);
        let memories = page["memories"].as_array().unwrap();
        seen.push(memories.len());
        for memory in memories {
            assert_eq!(memory["id"], ids.remove(0));
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/memory?user_id=u&limit=3&cursor={cursor}"),
            None => break seen,
        }
    };
    assert_eq!(pages, [3, 3, 1]);
    assert_eq!(ids, Vec::<String>::new());
    let nobody = server.get("/v1/memory?user_id=nobody").await;
    assert_eq!(nobody, (StatusCode::OK, json!({"memories": [], "next_cursor": null})));
    server.stop().await;
}

#[tokio::test]
async fn lists_filter_by_project_type_and_status() {
    let server = Server::start().await;
    for (content, project, name) in
        [("a", Some("p"), "semantic"), ("b", None, "semantic"), ("c", Some("p"), "procedural")]
    {
        let body = json!({"user_id": "u", "content": content, "project_id": project, "type": name});
        assert_eq!(server.post("/v1/memory", body).await.0, StatusCode::CREATED);
    }
    let id = server.remember("u", "d").await;
    server.patch(&format!("/v1/memory/{id}?user_id=u"), json!({"status": "archived"})).await;
    let contents = async |query: &str| {
        let (_, page) = server.get(&format!("/v1/memory?user_id=u{query}")).await;
        let contents = page["memories"].as_array().unwrap().iter();
        contents.map(|m| m["content"].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(contents("").await, "cba");
    assert_eq!(contents("&project_id=p").await, "ca");
    assert_eq!(contents("&type=semantic").await, "ba");
    assert_eq!(contents("&project_id=p&type=semantic").await, "a");
    assert_eq!(contents("&status=archived").await, "d");
    server.stop().await;
}

#[tokio::test]
async fn another_users_or_tenants_memory_is_404_for_every_verb() {
    let server = Server::start().await;
    let id = server.remember("alice", "secret garden").await;
    for whose in ["user_id=bob", "user_id=alice&tenant_id=t"] {
        let path = format!("/v1/memory/{id}?{whose}");
        assert_eq!(error(&server.get(&path).await), (404, "not_found", None));
        assert_eq!(error(&server.delete(&path).await), (404, "not_found", None));
        let patched = server.patch(&path, json!({"content": "x"})).await;
        assert_eq!(error(&patched), (404, "not_found", None));
    }
    let (status, memory) = server.get(&format!("/v1/memory/{id}?user_id=alice")).await;
    assert_eq!((status, &memory["version"]), (StatusCode::OK, &json!(1)));
    server.stop().await;
}

#[tokio::test]
async fn deleting_a_project_keeps_other_memories() {
    let server = Server::start().await;
    let id = server.remember("u", "one").await;
    let path = format!("/v1/memory/{id}?user_id=u");
    assert_eq!(server.delete(&path).await, (StatusCode::OK, json!({"deleted": 1})));
    assert_eq!(server.delete(&path).await.0, StatusCode::NOT_FOUND);
    for (content, project) in [("a", Some("p")), ("b", Some("q")), ("c", None)] {
        let body = json!({"user_id": "u", "content": content, "project_id": project});
        server.post("/v1/memory", body).await;
    }
    server.remember("v", "not touched").await;
    let forgotten = server.delete("/v1/memory?user_id=u&project_id=p").await;
    assert_eq!(forgotten, (StatusCode::OK, json!({"deleted": 1})));
    assert_eq!(server.delete("/v1/memory?user_id=u").await.1, json!({"deleted": 2}));
    assert_eq!(server.delete("/v1/memory?user_id=u").await.1, json!({"deleted": 0}));
    assert_eq!(server.get("/v1/memory?user_id=v").await.1["memories"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_patch_changes_only_its_members_and_a_stale_version_is_a_conflict() {
    let server = Server::start().await;
    let body = json!({"user_id": "u", "content": "budget 10", "project_id": "p", "tags": ["a"]});
    let (_, memory) = server.post("/v1/memory", body).await;
    let path = format!("/v1/memory/{}?user_id=u", memory["id"].as_str().unwrap());
    let (status, changed) = server
        .patch(&path, json!({"content": "budget 15", "project_id": null, "version": 1}))
        .await;
    assert_eq!(status, StatusCode::OK, "{changed}");
    assert_eq!(changed["content"], "budget 15");
    assert_eq!(changed["version"], 2);
    assert_eq!(changed["tags"], json!(["a"]));
    assert!(changed.get("project_id").is_none());
    assert_eq!(changed["created_at"], memory["created_at"]);
    let stale = server.patch(&path, json!({"content": "x", "version": 1})).await;
    assert_eq!(error(&stale), (409, "version_conflict", Some("version")));
    let found = json!({"user_id": "u", "query": "budget 15", "threshold": 0.0});
    let (_, hits) = server.post("/v1/memory/search", found).await;
    assert_eq!(hits["hits"][0]["memory"]["content"], "budget 15");
    server.stop().await;
}

#[tokio::test]
async fn a_search_finds_the_users_memories_and_explains_on_request() {
    let server = Server::start().await;
    server.remember("u", "my budget for the Hawaii trip is $10,000").await;
    server.remember("u", "cats dislike rain").await;
    server.remember("v", "my budget for the Hawaii trip is $99").await;
    let ask = |more: Value| {
        let mut body =
            json!({"user_id": "u", "query": "budget for the Hawaii trip", "threshold": 0});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/memory/search", body)
    };
    let (status, found) = ask(json!({})).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    let hit = &found["hits"][0];
    assert_eq!(hit["memory"]["content"], "my budget for the Hawaii trip is $10,000");
    assert_eq!(hit["memory"]["user_id"], "u");
    assert!(hit["score"].as_f64().unwrap() > found["hits"][1]["score"].as_f64().unwrap());
    assert!(hit.get("parts").is_none());
    assert!(found.to_string().find("$99").is_none());
    assert!(ask(json!({"explain": true})).await.1["hits"][0]["parts"]["cosine"].is_number());
    let limited = ask(json!({"limit": 1})).await.1;
    assert_eq!(limited["hits"].as_array().unwrap().len(), 1);
    let typed = ask(json!({"types": ["procedural"]})).await.1;
    assert_eq!(typed, json!({"hits": []}));
    for (window, found) in [
        (json!({"since": "2020-01-01T00:00:00Z"}), 2),
        (json!({"until": "2020-01-01T00:00:00Z"}), 0),
        (json!({"since": "2020-01-01T00:00:00Z", "filter": {"text": "cats"}}), 1),
    ] {
        let within = ask(window).await.1;
        assert_eq!(within["hits"].as_array().unwrap().len(), found);
    }
    assert_eq!(ask(json!({"since": "yesterday"})).await.0, StatusCode::BAD_REQUEST);
    let filtered = ask(json!({"filter": {"text": "cats"}})).await.1;
    assert_eq!(filtered["hits"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn secrets_are_removed_from_every_member() {
    let server = Server::start().await;
    let key = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let body = json!({
        "user_id": "u", "content": format!("my token is {key}, why?"),
        "tags": [key], "metadata": {"deep": [{"er": key}]},
    });
    let (status, memory) = server.post("/v1/memory", body).await;
    assert_eq!(status, StatusCode::CREATED);
    assert!(!memory.to_string().contains(key), "{memory}");
    assert!(memory["content"].as_str().unwrap().contains("why?"));
    let path = format!("/v1/memory/{}?user_id=u", memory["id"].as_str().unwrap());
    let (_, patched) = server.patch(&path, json!({"content": key})).await;
    assert!(!patched.to_string().contains(key), "{patched}");
    server.stop().await;
}

#[tokio::test]
async fn invalid_fields_are_400_and_named() {
    let server = Server::start().await;
    let long = "x".repeat(70_000);
    for (body, param) in [
        (json!({"content": "x"}), "user_id"),
        (json!({"user_id": "", "content": "x"}), "user_id"),
        (json!({"user_id": "a\nb", "content": "x"}), "user_id"),
        (json!({"user_id": "u", "tenant_id": "", "content": "x"}), "tenant_id"),
        (json!({"user_id": "u"}), "content"),
        (json!({"user_id": "u", "content": " "}), "content"),
        (json!({"user_id": "u", "content": long}), "content"),
        (json!({"user_id": "u", "content": "x", "type": "semantik"}), "type"),
        (json!({"user_id": "u", "content": "x", "importance": 1.5}), "importance"),
        (json!({"user_id": "u", "content": "x", "projectid": "p"}), "projectid"),
        (json!({"user_id": "u", "content": "x", "project_id": ""}), "project_id"),
        (json!({"user_id": "u", "content": "x", "tags": [""]}), "tags"),
    ] {
        let answer = server.post("/v1/memory", body.clone()).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(param)), "{body}");
    }
    for (path, param) in [
        ("/v1/memory", "user_id"),
        ("/v1/memory?user_id=", "user_id"),
        ("/v1/memory?user_id=u&limit=0", "limit"),
        ("/v1/memory?user_id=u&limit=101", "limit"),
        ("/v1/memory?user_id=u&cursor=zzz", "cursor"),
        ("/v1/memory?user_id=u&type=x", "type"),
        ("/v1/memory?user_id=u&projectid=p", "projectid"),
        ("/v1/memory/some?tenant_id=t", "user_id"),
    ] {
        let answer = server.get(path).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(param)), "{path}");
    }
    for (body, param) in [
        (json!({"user_id": "u", "query": ""}), "query"),
        (json!({"user_id": "u", "query": "q", "limit": 51}), "limit"),
        (json!({"user_id": "u", "query": "q", "threshold": -0.1}), "threshold"),
        (json!({"user_id": "u", "query": "q", "types": ["x"]}), "types"),
    ] {
        let answer = server.post("/v1/memory/search", body.clone()).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(param)), "{body}");
    }
    let wrong_type = server.post("/v1/memory", json!({"user_id": 5, "content": "x"})).await;
    assert_eq!(wrong_type.0, StatusCode::BAD_REQUEST);
    // A misspelt member must not delete more than was meant.
    server.remember("u", "stays").await;
    let misspelt = server.delete("/v1/memory?user_id=u&project=p").await;
    assert_eq!(error(&misspelt), (400, "invalid_value", Some("project")));
    assert_eq!(error(&server.delete("/v1/memory?user_id=u&project_id=").await).0, 400);
    assert_eq!(server.get("/v1/memory?user_id=u").await.1["memories"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn deleted_memories_are_removed_from_tool_loop_contexts() {
    let server = Server::start().await;
    let (alice, bob) = (Owner::of_user("alice").unwrap(), Owner::of_user("bob").unwrap());
    let key = |owner| LoopKey::of(owner, &["s"], "book it");
    let held = server.operations.recall.tool_loops();
    for delete in ["/v1/memory/{id}?user_id=alice", "/v1/memory?user_id=alice"] {
        let id = server.remember("alice", "likes tea").await;
        [&alice, &bob].iter().for_each(|owner| held.begin(key(owner), owner));
        let (status, _) = server.delete(&delete.replace("{id}", &id)).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(held.get(&key(&alice)), None, "{delete}");
        assert!(held.get(&key(&bob)).is_some());
    }
    server.stop().await;
}

#[tokio::test]
async fn a_memory_is_a_preference_while_its_content_states_one() {
    let server = Server::start().await;
    let create = async |content: &str, tags: &[&str]| {
        let body = json!({"user_id": "u", "content": content, "tags": tags});
        server.post("/v1/memory", body).await.1
    };
    let names = async || {
        let (_, found) = server.get("/v1/preferences?user_id=u").await;
        let found = found["preferences"].as_array().unwrap().clone();
        found.iter().map(|it| it["value"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let sam = create("Call me Sam", &[]).await;
    assert_eq!((&sam["tags"], &sam["content"]), (&json!(["preference"]), &json!("Call me Sam")));
    assert_eq!(create("Call me Max", &["name"]).await["tags"], json!(["name"]));
    assert_eq!(create("I live in Oslo", &[]).await["tags"], json!([]));
    assert_eq!(names().await, ["Sam"]);
    let path = format!("/v1/memory/{}?user_id=u", sam["id"].as_str().unwrap());
    let (_, changed) = server.patch(&path, json!({"content": "Call me Al", "tags": []})).await;
    assert_eq!((&changed["tags"], names().await), (&json!(["preference"]), vec!["Al".to_owned()]));
    let (_, changed) = server.patch(&path, json!({"content": "I live in Oslo"})).await;
    assert_eq!((&changed["tags"], names().await), (&json!([]), Vec::new()));
    server.stop().await;
}
