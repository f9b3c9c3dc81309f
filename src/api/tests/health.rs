use super::*;

#[tokio::test]
async fn health_readiness_and_figures_are_served() {
    let server = Server::start().await;
    let (status, alive) = server.get("/healthz").await;
    assert_eq!((status, &alive["service"]), (StatusCode::OK, &json!("memgate")));
    let ready = json!({"status": "ready", "store": "ok", "embedder": "ok", "journal": "ok"});
    assert_eq!(server.get("/readyz").await, (StatusCode::OK, ready));
    server.remember("u", "x").await;
    let answer = server.request(Method::GET, "/metrics").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], crate::telemetry::METRICS_CONTENT_TYPE);
    let text = answer.text().await.unwrap();
    for line in ["memgate_store_up 1", "memgate_memories_stored_total{type=\"semantic\"} 1"] {
        assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_closed_store_is_not_ready_and_says_why() {
    let server = Server::start().await;
    server.operations.store.close().await;
    let (status, body) = server.get("/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    assert_eq!(body["status"], "not ready");
    assert_ne!(body["store"], "ok");
    assert_eq!(body["embedder"], "ok");
    let answer = server.get("/v1/memory?user_id=u").await;
    assert_eq!(error(&answer), (503, "store_unavailable", None));
    assert!(server.operations.metrics.encode().contains("memgate_store_up 0"));
    server.stop().await;
}

#[tokio::test]
async fn before_the_store_is_open_figures_are_served_and_operations_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let router = router(Door::closed(Metrics::new()), None);
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
