//! Ids, types and the names of members: a secret in one of them is refused, since a redacted id is another id.

use crate::api::tests::*;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Ids as clients and services make them.
const ORDINARY: [&str; 8] = [
    "ops",
    "chat-2026-11-28",
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    "api:0f8fad5b-d9cb-469f-a165-70867728950e",
    "resp_68a1f0c2b7d48190a5b3c4d5e6f708190f8fad5bd9cb469f",
    "chatcmpl-BqX7fLh29sKzYt4RmWcV8pNd3GuJa",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "проект-7",
];

impl Server {
    async fn export_as_text(&self) -> String {
        let request = self.request(Method::GET, "/v1/memory/export?user_id=u");
        request.send().await.unwrap().text().await.unwrap()
    }

    async fn imports(&self, lines: &[Value]) -> Value {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let request = self.request(Method::POST, "/v1/memory/import?user_id=u");
        let request = request.header("content-type", "application/x-ndjson").body(text);
        let (status, view) = self.send(request).await;
        assert_eq!(status, StatusCode::OK, "{view}");
        view
    }
}

/// The header and the memory of an export.
async fn lines(from: &Server) -> [Value; 2] {
    from.remember("u", "I live in Lyon").await;
    let exported = from.export_as_text().await;
    let mut lines = exported.lines().map(|line| serde_json::from_str(line).unwrap());
    [lines.next().unwrap(), lines.next().unwrap()]
}

#[tokio::test]
async fn a_created_or_changed_memory_has_no_secret_in_a_name_and_the_error_says_in_which() {
    let server = Server::start().await;
    let id = server.remember("u", "I live in Lyon").await;
    let memory = format!("/v1/memory/{id}?user_id=u");
    for (field, value) in [
        ("project_id", json!(TOKEN)),
        ("project_id", json!(format!("ops/{TOKEN}"))),
        ("metadata", json!({TOKEN: 1})),
        ("metadata", json!({"deep": [{"er": {TOKEN: null}}]})),
        ("visibility", json!({"kind": "shared", "users": [TOKEN]})),
    ] {
        let answer = server.patch(&memory, json!({field: value})).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(field)), "{value}");
        let answer =
            server.post("/v1/memory", json!({"user_id": "u", "content": "x", field: value})).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(field)), "{value}");
    }
    for field in ["session_id", "agent_id"] {
        let body = json!({"user_id": "u", "content": "x", field: TOKEN});
        let answer = server.post("/v1/memory", body).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(field)));
    }
    let body = json!({"user_id": "u", "key": "units", "value": "metric", "project_id": TOKEN});
    let answer = server.put("/v1/preferences", body).await;
    assert_eq!(error(&answer), (400, "invalid_value", Some("project_id")));
    assert!(!server.export_as_text().await.contains(TOKEN));
    server.stop().await;
}

#[tokio::test]
async fn an_import_refuses_a_line_with_a_secret_in_a_name_and_says_in_which() {
    let (from, server) = (Server::start().await, Server::start().await);
    let [header, line] = lines(&from).await;
    let with = |field: &str, value: Value| {
        let mut line = line.clone();
        line["memory"][field] = value;
        line
    };
    let mut earlier = with("version", json!(2));
    earlier["history"] = json!([with("sub_type", json!(TOKEN))["memory"]]);
    let mut space = line.clone();
    space["vectors"][0]["space"] = json!(TOKEN);
    let origin = json!({"turn": "t", "again": [{"turn": "t2", "session": TOKEN}]});
    let view = server
        .imports(&[
            header,
            with("id", json!(TOKEN)),
            with("sub_type", json!(TOKEN)),
            with("document_id", json!(format!("https://files.example/a.pdf?token={TOKEN}"))),
            with("project_id", json!(TOKEN)),
            with("agent_id", json!(TOKEN)),
            with("session_id", json!(TOKEN)),
            with("relations", json!([{"type": TOKEN, "target": "m"}])),
            with("relations", json!([{"type": "related_to", "target": TOKEN}])),
            with("metadata", json!({TOKEN: 1})),
            with("structured", json!([{TOKEN: 1}])),
            with("provenance", origin),
            earlier,
            space,
        ])
        .await;
    let problems = view["problems"].as_array().unwrap().iter();
    let fields: Vec<&str> = problems.map(|it| it["field"].as_str().unwrap()).collect();
    let expected = [
        "memory.id",
        "memory.sub_type",
        "memory.document_id",
        "memory.project_id",
        "memory.agent_id",
        "memory.session_id",
        "memory.relations",
        "memory.relations",
        "memory.metadata",
        "memory.structured",
        "memory.provenance",
        "history[0].sub_type",
        "vectors[0].space",
    ];
    assert_eq!(fields, expected, "{view}");
    assert!(!view.to_string().contains(TOKEN));
    assert!(!server.export_as_text().await.contains(TOKEN));
    from.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn ordinary_ids_are_kept_as_they_are() {
    let (from, server) = (Server::start().await, Server::start().await);
    let [header, line] = lines(&from).await;
    let mut imported = vec![header];
    for name in ORDINARY {
        let names = json!({
            "user_id": "u", "content": "I live in Lyon", "project_id": name, "session_id": name,
            "metadata": {name: 1},
        });
        let (status, stored) = server.post("/v1/memory", names).await;
        assert_eq!(status, StatusCode::CREATED, "{stored}");
        assert_eq!((&stored["project_id"], &stored["session_id"]), (&json!(name), &json!(name)));
        let mut line = line.clone();
        for field in ["id", "sub_type", "document_id", "project_id", "session_id"] {
            line["memory"][field] = json!(name);
        }
        line["memory"]["relations"] = json!([{"type": "related_to", "target": name}]);
        line["memory"]["metadata"] = json!({name: {name: 1}});
        imported.push(line);
    }
    let view = server.imports(&imported).await;
    assert_eq!(view["written"], ORDINARY.len(), "{view}");
    from.stop().await;
    server.stop().await;
}
