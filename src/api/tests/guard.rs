use crate::api::tests::*;

#[tokio::test]
async fn all_errors_have_the_same_shape() {
    let server = Server::start().await;
    assert_eq!(error(&server.get("/v1/nothing").await), (404, "unknown_route", None));
    assert_eq!(error(&server.get("/dashboard/none.js").await), (404, "unknown_route", None));
    let put = server.send(server.request(Method::PUT, "/v1/memory?user_id=u")).await;
    assert_eq!(error(&put), (405, "method_not_allowed", None));
    let json = |body: &str| {
        let request = server.request(Method::POST, "/v1/memory").body(body.to_owned());
        request.header("content-type", "application/json; charset=utf-8")
    };
    assert_eq!(error(&server.send(json("{\"user_id\":")).await), (400, "invalid_json", None));
    assert_eq!(error(&server.send(json("")).await), (400, "invalid_json", None));
    assert_eq!(error(&server.send(json("[]")).await).0, 400);
    let large = server.send(json(&" ".repeat(crate::api::read::extract::MAX_BODY + 1))).await;
    assert_eq!(error(&large), (413, "too_large", None));
    let form = server.request(Method::POST, "/v1/memory").body("{}");
    let form = server.send(form.header("content-type", "text/plain")).await;
    assert_eq!(error(&form), (415, "unsupported_media_type", None));
    server.stop().await;
}

#[tokio::test]
async fn a_key_protects_memories_but_neither_health_nor_the_description_of_the_api() {
    let mut server = Server::with(Arc::new(InMemoryStore::new()), Some(&format!("{KEY}\n"))).await;
    let key = server.client.clone();
    server.client = Client::builder().no_proxy().build().unwrap();
    let basic = format!("Basic {KEY}");
    for header in [None, Some("Bearer wrong"), Some(basic.as_str()), Some(KEY), Some("Bearer")] {
        for (method, path) in [
            (Method::GET, "/v1/memory?user_id=u"),
            (Method::DELETE, "/v1/memory?user_id=u"),
            (Method::GET, "/v1/memory/x?user_id=u"),
            (Method::POST, "/v1/memory/flush"),
            (Method::POST, "/v1/sessions/s/end"),
            (Method::GET, "/v1/jobs?user_id=u"),
            (Method::GET, "/v1/memory/export?user_id=u"),
            (Method::POST, "/v1/memory/import?user_id=u"),
            (Method::GET, "/v1/memory/stats?user_id=u"),
            (Method::GET, "/admin/memory/export"),
            (Method::POST, "/admin/memory/import"),
            (Method::GET, "/admin/jobs"),
            (Method::POST, "/admin/jobs/retry"),
        ] {
            let mut request = server.request(method, path);
            if let Some(header) = header {
                request = request.header("authorization", header);
            }
            let answer = server.send(request).await;
            assert_eq!(error(&answer), (401, "invalid_api_key", None), "{header:?} {path}");
        }
    }
    assert_eq!(server.get("/healthz").await.0, StatusCode::OK);
    let described = serde_json::to_value(openapi()).unwrap();
    assert_eq!(server.get("/openapi.json").await, (StatusCode::OK, described));
    server.client = key;
    for path in ["/v1/memory?user_id=u", "/admin/jobs"] {
        assert_eq!(server.get(path).await.0, StatusCode::OK, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn without_a_key_admin_is_disabled_even_on_loopback() {
    let server = Server::with(Arc::new(InMemoryStore::new()), None).await;
    assert_eq!(server.get("/v1/memory?user_id=u").await.0, StatusCode::OK);
    let admin = entries().into_iter().filter(|entry| entry.path.starts_with("/admin/"));
    for Entry { method, path, .. } in admin {
        let path = path.replace("{id}", "1");
        let request = server.request(method, &path).bearer_auth("");
        assert_eq!(error(&server.send(request).await), (401, "key_required", None), "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn without_a_key_dns_rebinding_is_refused() {
    let server = Server::with(Arc::new(InMemoryStore::new()), None).await;
    for (host, status) in [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8080", 200),
        ("evil.example", 403),
        ("evil.example:8080", 403),
        ("localhost.evil.example", 403),
    ] {
        let request = server.request(Method::GET, "/v1/memory?user_id=u").header("host", host);
        let (found, body) = server.send(request).await;
        assert_eq!(found.as_u16(), status, "{host} {body}");
    }
    server.stop().await;
}
