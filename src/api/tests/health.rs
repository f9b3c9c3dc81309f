use crate::api::tests::*;
use memgate_testing::{FaultyStore, Mode};

#[tokio::test]
async fn serves_health_readiness_and_metrics() {
    let server = Server::start().await;
    let (status, alive) = server.get("/healthz").await;
    assert_eq!((status, &alive["service"]), (StatusCode::OK, &json!("memgate")));
    let ready = json!({"status": "ready", "store": "ok", "embedder": "ok", "journal": "ok", "identity_mode": "production"});
    assert_eq!(server.get("/readyz").await, (StatusCode::OK, ready));
    server.remember("u", "x").await;
    let answer = server.request(Method::GET, "/metrics").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], memgate_telemetry::METRICS_CONTENT_TYPE);
    let text = answer.text().await.unwrap();
    for line in ["memgate_store_up 1", "memgate_memories_stored_total{type=\"semantic\"} 1"] {
        assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
    }
    server.stop().await;
}

#[tokio::test]
async fn without_its_store_memgate_is_degraded() {
    let switch = FaultyStore::new(Arc::new(InMemoryStore::new()), Mode::Works);
    let server = Server::with(switch.clone(), None).await;
    let id = server.remember("u", "x").await;
    switch.set(Mode::Refuses);
    let (status, body) = server.get("/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    let expected = json!({"status": "degraded", "store": "store unavailable: switched off",
                          "embedder": "ok", "journal": "ok", "identity_mode": "development"});
    assert_eq!(body, expected);
    assert!(server.operations.metrics.encode().contains("memgate_store_up 0"));
    let one = format!("/v1/memory/{id}?user_id=u");
    for answer in [
        server.get("/v1/memory?user_id=u").await,
        server.get(&one).await,
        server.patch(&one, json!({"content": "y"})).await,
        server.delete(&one).await,
        server.delete("/v1/memory?user_id=u").await,
        server.post("/v1/memory", json!({"user_id": "u", "content": "y"})).await,
        server.post("/v1/memory/search", json!({"user_id": "u", "query": "x"})).await,
    ] {
        assert_eq!(error(&answer), (503, "store_unavailable", None), "{answer:?}");
    }
    // What needs only the journal works.
    let flush = json!({"user_id": "u", "timeout_ms": 10});
    assert_eq!(server.post("/v1/memory/flush", flush).await.0, StatusCode::OK);
    assert_eq!(server.get("/v1/jobs?user_id=u").await.0, StatusCode::OK);
    switch.set(Mode::Works);
    assert_eq!(server.get("/readyz").await.0, StatusCode::OK);
    assert_eq!(server.get(&one).await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn without_its_journal_memgate_is_not_ready() {
    let server = Server::start().await;
    server.operations.capture.shutdown(Duration::from_secs(5)).await;
    let (status, body) = server.get("/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    assert_eq!((&body["status"], &body["store"]), (&json!("not ready"), &json!("ok")));
    assert_ne!(body["journal"], "ok");
    server.stop().await;
}

#[tokio::test]
async fn before_the_store_is_open_metrics_are_served_and_operations_answer_503() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let mut config = Config::default();
    config.memory.identity.mode = IdentityMode::Development;
    let router = router(ApiState::new(Live::fixed(config), Metrics::new()), None);
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(serve(listener, router, async {
        let _ = stopped.await;
    }));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().build().unwrap();
    for (path, expected) in
        [("/healthz", 200), ("/metrics", 200), ("/readyz", 503), ("/v1/memory?user_id=u", 503)]
    {
        let answer = client.get(format!("{origin}{path}")).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), expected, "{path}");
    }
    drop(client);
    stop.send(()).unwrap();
    served.await.unwrap().unwrap();
}
