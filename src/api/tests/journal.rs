use crate::api::tests::*;

#[tokio::test]
async fn lists_a_users_sessions_and_jobs_in_pages() {
    let server = Server::start().await;
    for (session, user) in [("a", "u"), ("b", "u"), ("c", "v")] {
        server.talk_in(session, user).await;
    }
    let (status, first) = server.get("/v1/sessions?user_id=u&limit=1").await;
    assert_eq!(status, StatusCode::OK, "{first}");
    let session = &first["sessions"][0];
    let members: Vec<_> = session.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["active_at", "ended_at", "id", "started_at", "turns"]);
    assert_eq!((&session["id"], &session["turns"]), (&json!("b"), &json!(1)));
    let cursor = first["next_cursor"].as_str().unwrap();
    let (_, second) = server.get(&format!("/v1/sessions?user_id=u&cursor={cursor}")).await;
    assert_eq!(second["sessions"][0]["id"], "a");
    assert_eq!(second["next_cursor"], Value::Null);
    // Always present: the pending ends of sessions that are not idle yet.
    let (_, jobs) = server.get("/v1/jobs?user_id=u&state=pending").await;
    let waiting: Vec<_> = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|j| j["kind"] == "end_idle_session")
        .collect();
    assert_eq!(waiting.len(), 2, "{jobs}");
    assert_eq!((&waiting[0]["user_id"], &waiting[0]["tries"]), (&json!("u"), &json!(0)));
    assert_eq!(waiting[0].get("last_error"), None);
    let path = format!("/v1/jobs/{}/retry", waiting[0]["id"]);
    assert_eq!(server.post(&path, json!({"user_id": "u"})).await.0, StatusCode::OK);
    assert_eq!(error(&server.post(&path, json!({"user_id": "v"})).await), (404, "not_found", None));
    assert_eq!(server.get("/v1/jobs?user_id=u&state=dead").await.1["jobs"], json!([]));
    assert_eq!(
        server.post("/v1/jobs/retry", json!({"user_id": "u"})).await.1,
        json!({"retried": 0})
    );
    let (_, everybody) = server.get("/admin/jobs").await;
    assert!(everybody["jobs"].as_array().unwrap().iter().any(|job| job["user_id"] == "v"));
    assert_eq!(server.post("/admin/jobs/retry", json!({})).await.1, json!({"retried": 0}));
    server.stop().await;
}

#[tokio::test]
async fn listing_requires_a_user_and_reports_invalid_fields() {
    let server = Server::start().await;
    for (path, param) in [
        ("/v1/jobs", "user_id"),
        ("/v1/sessions", "user_id"),
        ("/v1/jobs?user_id=u&limit=0", "limit"),
        ("/v1/sessions?user_id=u&limit=101", "limit"),
        ("/v1/jobs?user_id=u&cursor=x", "cursor"),
        ("/v1/jobs?user_id=", "user_id"),
        ("/admin/jobs?user_id=u", "user_id"),
    ] {
        assert_eq!(error(&server.get(path).await), (400, "invalid_value", Some(param)), "{path}");
    }
    assert_eq!(server.get("/v1/jobs?user_id=u&state=done").await.0, StatusCode::BAD_REQUEST);
    let unknown = server.post("/v1/jobs/x/retry", json!({"user_id": "u"})).await;
    assert_eq!(error(&unknown), (404, "not_found", None));
    assert_eq!(server.post("/v1/jobs/retry", json!({})).await.0, StatusCode::BAD_REQUEST);
    server.stop().await;
}
