//! Invalid requests and their error messages.

use crate::api::tests::*;

/// The message of a 400 response for this member.
fn told(answer: &(StatusCode, Value), param: Option<&str>) -> String {
    assert_eq!(error(answer), (400, "invalid_value", param), "{}", answer.1);
    answer.1["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn refuses_a_list_as_a_request() {
    let server = Server::start().await;
    let id = server.remember("u", "stays").await;
    let items = json!(["arr", null, "stored by a list"]);
    for (method, path) in [
        (Method::POST, "/v1/memory"),
        (Method::POST, "/v1/memory/search"),
        (Method::POST, "/v1/memory/flush"),
        (Method::POST, "/v1/sessions/s/end"),
        (Method::POST, "/v1/jobs/retry"),
        (Method::POST, "/v1/jobs/1/retry"),
        (Method::POST, "/admin/jobs/retry"),
        (Method::PATCH, &*format!("/v1/memory/{id}?user_id=u")),
    ] {
        for body in [&items, &json!([]), &json!("arr"), &json!(null)] {
            let answer = server.send(server.request(method.clone(), path).json(body)).await;
            let message = told(&answer, None);
            assert!(message.starts_with("the body must be an object"), "{path} {message}");
        }
    }
    assert_eq!(server.get("/v1/memory?user_id=arr").await.1["memories"], json!([]));
    server.stop().await;
}

#[tokio::test]
async fn refuses_a_list_in_place_of_an_object() {
    let server = Server::start().await;
    for (member, value, param) in [
        ("mentions", json!([{"name": "Ana"}, ["Ana", "person"]]), "mentions[1]"),
        ("entity_relations", json!([["Ana", "works_at", "Helio"]]), "entity_relations[0]"),
        ("metadata", json!([1]), "metadata"),
    ] {
        let body = json!({"user_id": "u", "content": "x", member: value});
        let message = told(&server.post("/v1/memory", body).await, Some(param));
        assert_eq!(message, format!("{param}: must be an object, not a list"));
    }
    for (filter, param) in [
        (json!({"metadata": ["k", 1]}), "filter.metadata"),
        (json!({"and": [{"time": ["created", null, null]}]}), "filter.and[0].time"),
    ] {
        let body = json!({"user_id": "u", "query": "q", "filter": filter});
        let message = told(&server.post("/v1/memory/search", body).await, Some(param));
        assert_eq!(message, format!("{param}: must be an object, not a list"));
    }
    server.stop().await;
}

#[tokio::test]
async fn an_error_names_the_member_and_the_expected_value() {
    let server = Server::start().await;
    for (member, value, param, message) in [
        ("limit", json!("5"), "limit", "must be a whole number, 0 or more, not a string"),
        (
            "limit",
            json!(2.5),
            "limit",
            "must be a whole number, 0 or more, not a number with a decimal point",
        ),
        ("limit", json!(-1), "limit", "must be a whole number, 0 or more"),
        ("threshold", json!("high"), "threshold", "must be a number, not a string"),
        ("explain", json!("yes"), "explain", "must be true or false, not a string"),
        ("query", json!(5), "query", "must be a string, not a number"),
        ("types", json!("semantic"), "types", "must be a list, not a string"),
        ("types", json!(["semantic", 5]), "types[1]", "must be a string, not a number"),
        ("since", json!("yesterday"), "since", "must be a time like 2026-05-01T10:00:00Z"),
        ("since", json!(5), "since", "must be a time like 2026-05-01T10:00:00Z, not a number"),
        (
            "filter",
            json!({}),
            "filter",
            "must have exactly one member, one of and, or, not, kind, type, status, source, tag, metadata, text, importance, confidence, time, session, project, entity",
        ),
        (
            "filter",
            json!({"tag": "a", "text": "b"}),
            "filter",
            "must have exactly one member, one of and, or",
        ),
        (
            "filter",
            json!({"importance": 0.9}),
            "filter.importance",
            r#"must be a comparison and a number, ["gte", 0.9] for example, not a number with a decimal point"#,
        ),
        (
            "filter",
            json!({"importance": ["gte"]}),
            "filter.importance",
            r#"must be a comparison and a number, ["gte", 0.9] for example"#,
        ),
        (
            "filter",
            json!({"importance": ["gte", 0.1, 0.9]}),
            "filter.importance",
            "must be a comparison and a number",
        ),
        (
            "filter",
            json!({"not": {"confidence": [">", 1]}}),
            "filter.not.confidence[0]",
            "must be one of gte, lte, gt, lt",
        ),
        (
            "filter",
            json!({"or": [{"tag": "a"}, {"importance": ["gt", "x"]}]}),
            "filter.or[1].importance[1]",
            "must be a number, not a string",
        ),
        ("filter", json!({"colour": "red"}), "filter.colour", "must be one of and, or"),
        ("filter", json!("tag"), "filter", r#"must be an object: {"tag": …}"#),
        ("filter", json!(7), "filter", "must be one of and, or"),
        ("filter", json!({"type": "semantic"}), "filter.type", "must be a list, not a string"),
        (
            "filter",
            json!({"status": ["activ"]}),
            "filter.status[0]",
            "must be one of active, superseded, review, quarantined, archived",
        ),
        (
            "filter",
            json!({"status": [{"active": 1}]}),
            "filter.status[0].active",
            r#"must be the string "active""#,
        ),
        ("filter", json!({"metadata": {"key": "k"}}), "filter.metadata.equals", "is required"),
        (
            "filter",
            json!({"time": {"field": "created", "form": "2026-01-01T00:00:00Z"}}),
            "filter.time.form",
            "is unknown; must be one of field, from, until",
        ),
        (
            "filter",
            json!({"time": {"field": "event", "from": "May"}}),
            "filter.time.from",
            "must be a time like",
        ),
        (
            "fliter",
            json!({}),
            "fliter",
            "is unknown; must be one of user_id, space, tenant_id, query,",
        ),
    ] {
        let mut body = json!({"user_id": "u", "query": "q"});
        body[member] = value;
        let found = told(&server.post("/v1/memory/search", body.clone()).await, Some(param));
        assert!(found.starts_with(&format!("{param}: {message}")), "{body}: {found}");
    }
    let long = "x".repeat(500);
    let body = json!({"user_id": "u", "query": "q", long.clone(): 1});
    let (_, answer) = server.post("/v1/memory/search", body).await;
    assert!(answer["error"]["param"].as_str().unwrap().len() < 100, "{answer}");
    let twice = server.request(Method::POST, "/v1/memory").body(r#"{"user_id":"a","user_id":"b"}"#);
    let twice = server.send(twice.header("content-type", "application/json")).await;
    assert_eq!(told(&twice, Some("user_id")), "user_id: must not be repeated");
    server.stop().await;
}

#[tokio::test]
async fn an_error_names_the_query_parameter() {
    let server = Server::start().await;
    for (query, param, message) in [
        ("limit=ten", "limit", "must be a whole number, 0 or more"),
        ("limit=", "limit", "must be a whole number, 0 or more"),
        (
            "status=old",
            "status",
            "must be one of active, superseded, review, quarantined, archived",
        ),
        ("user_id=b", "user_id", "must not be repeated"),
        ("colour=red", "colour", "is unknown; must be one of user_id,"),
    ] {
        let found = told(&server.get(&format!("/v1/memory?user_id=u&{query}")).await, Some(param));
        assert!(found.starts_with(&format!("{param}: {message}")), "{query}: {found}");
    }
    let vectors = server.get("/v1/memory/export?user_id=u&vectors=maybe").await;
    assert_eq!(told(&vectors, Some("vectors")), "vectors: must be true or false");
    let list = server.get("/v1/memory?user_id=u+%C3%BC&limit=5&status=active").await;
    assert_eq!(list.0, StatusCode::OK, "{}", list.1);
    server.stop().await;
}

#[tokio::test]
async fn null_means_absent() {
    let server = Server::start().await;
    let with_nulls = |mut body: Value, members: &[&str]| {
        members.iter().for_each(|member| body[*member] = Value::Null);
        body
    };
    let body = with_nulls(
        json!({"user_id": "u", "content": "likes tea"}),
        &[
            "tenant_id",
            "type",
            "project_id",
            "agent_id",
            "session_id",
            "source",
            "importance",
            "confidence",
            "tags",
            "metadata",
            "mentions",
            "entity_relations",
            "valid_from",
            "valid_until",
        ],
    );
    let (status, memory) = server.post("/v1/memory", body).await;
    assert_eq!((status, &memory["tags"]), (StatusCode::CREATED, &json!([])), "{memory}");
    let body = with_nulls(
        json!({"user_id": "u", "query": "likes tea"}),
        &[
            "tenant_id",
            "project_id",
            "limit",
            "threshold",
            "types",
            "filter",
            "since",
            "until",
            "explain",
        ],
    );
    let (status, found) = server.post("/v1/memory/search", body).await;
    assert_eq!((status, found["hits"][0].get("parts")), (StatusCode::OK, None), "{found}");
    let path = format!("/v1/memory/{}?user_id=u", memory["id"].as_str().unwrap());
    let body = with_nulls(
        json!({"importance": 0.9}),
        &["version", "content", "type", "status", "tags", "metadata", "mentions"],
    );
    let (status, patched) = server.patch(&path, body).await;
    assert_eq!((status, &patched["content"]), (StatusCode::OK, &json!("likes tea")), "{patched}");
    let body = with_nulls(json!({"user_id": "u"}), &["tenant_id", "timeout_ms"]);
    assert_eq!(server.post("/v1/memory/flush", body).await.0, StatusCode::OK);
    let body = json!({"user_id": "u", "timeout_ms": 5000.0});
    assert_eq!(server.post("/v1/memory/flush", body).await.0, StatusCode::OK, "5000.0 is 5000");
    server.stop().await;
}

#[tokio::test]
async fn refuses_a_time_window_that_ends_before_its_start() {
    let server = Server::start().await;
    for until in ["2026-05-01T00:00:00Z", "2026-04-30T23:00:00Z"] {
        let body =
            json!({"user_id": "u", "query": "q", "since": "2026-05-01T00:00:00Z", "until": until});
        let message = told(&server.post("/v1/memory/search", body).await, Some("since"));
        assert_eq!(message, "since: must be before until");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_user_may_be_named_in_the_query_or_in_the_body() {
    let server = Server::start().await;
    let send = async |method: Method, path: &str, body: Value| {
        server.send(server.request(method, path).json(&body)).await
    };
    let whose = || json!({"user_id": "u"});
    let change = json!({"user_id": "u", "importance": 0.9});
    let paths = async || format!("/v1/memory/{}", server.remember("u", "likes tea").await);
    let path = paths().await;
    let (status, changed) = send(Method::PATCH, &path, change.clone()).await;
    assert_eq!((status, &changed["version"]), (StatusCode::OK, &json!(2)), "{changed}");
    assert_eq!(send(Method::DELETE, &path, whose()).await.1, json!({"deleted": 1}));
    let scope = json!({"user_id": "u", "project_id": "p"});
    server.post("/v1/memory", json!({"user_id": "u", "content": "x y", "project_id": "p"})).await;
    let kept = paths().await;
    assert_eq!(send(Method::DELETE, "/v1/memory", scope.clone()).await.1, json!({"deleted": 1}));
    assert_eq!(server.get(&format!("{kept}?user_id=u")).await.0, StatusCode::OK);
    let name = json!({"user_id": "u", "key": "name"});
    assert_eq!(send(Method::DELETE, "/v1/preferences", name).await.1, json!({"deleted": 0}));
    for (method, path, body) in [
        (Method::PATCH, kept.clone(), json!({"importance": 0.9})),
        (Method::DELETE, kept.clone(), json!({})),
        (Method::DELETE, "/v1/memory".into(), json!({"project_id": "p"})),
    ] {
        let unnamed = send(method.clone(), &path, body.clone()).await;
        assert_eq!(told(&unnamed, Some("user_id")), "user_id: is required", "{method} {path}");
        let twice = send(method.clone(), &format!("{path}?user_id=v"), whose()).await;
        assert_eq!(told(&twice, Some("user_id")), "user_id: must not be repeated");
        let other = json!({"user_id": "u", "colour": "red"});
        let other = told(&send(method.clone(), &path, other).await, Some("colour"));
        assert!(other.starts_with("colour: is unknown; must be one of "), "{other}");
    }
    assert_eq!(server.get(&format!("{kept}?user_id=u")).await.1["version"], 1);
    server.stop().await;
}

#[tokio::test]
async fn a_delete_may_have_no_body_and_a_patch_may_not() {
    let server = Server::start().await;
    let path = format!("/v1/memory/{}?user_id=u", server.remember("u", "likes tea").await);
    let typed = |method: Method, path: &str| {
        server.request(method, path).header("content-type", "application/json")
    };
    let patch = server.send(server.request(Method::PATCH, &path)).await;
    assert_eq!(error(&patch), (415, "unsupported_media_type", None));
    let patch = server.send(typed(Method::PATCH, &path)).await;
    assert_eq!(error(&patch), (400, "invalid_json", None));
    for unnamed in
        [server.request(Method::DELETE, "/v1/memory"), typed(Method::DELETE, "/v1/memory")]
    {
        assert_eq!(told(&server.send(unnamed).await, Some("user_id")), "user_id: is required");
    }
    let form = server.request(Method::DELETE, &path).body("project_id=p");
    assert_eq!(error(&server.send(form).await), (415, "unsupported_media_type", None));
    assert_eq!(server.send(typed(Method::DELETE, &path)).await.1, json!({"deleted": 1}));
    server.stop().await;
}
