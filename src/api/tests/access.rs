//! Keys: what each may do, and to whose memories.

use crate::api::tests::*;
use memgate_access::Scope;

impl Server {
    /// Creates a key and returns its text.
    pub(super) async fn key(&self, body: Value) -> String {
        let (status, made) = self.post("/admin/keys", body).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        made["key"].as_str().unwrap().to_owned()
    }

    /// Sends a request with another key than the configured one.
    async fn with_key(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        let mut request = self.request(method, path).bearer_auth(key);
        if let Some(body) = body {
            request = request.json(&body);
        }
        self.send(request).await
    }
}

#[tokio::test]
async fn a_key_permits_its_scopes_only() {
    let server = Server::start().await;
    let id = server.remember("u", "likes tea").await;
    let read = server.key(json!({"name": "r", "scopes": ["read"]})).await;
    let write = server.key(json!({"name": "w", "scopes": ["write"]})).await;
    let one = format!("/v1/memory/{id}?user_id=u");
    let user = || Some(json!({"user_id": "u"}));
    let refused = (403, "insufficient_scope", None);
    for (method, path, body, needs) in [
        (Method::GET, "/v1/memory?user_id=u", None, "read"),
        (Method::GET, one.as_str(), None, "read"),
        (Method::POST, "/v1/memory/search", Some(json!({"user_id": "u", "query": "tea"})), "read"),
        (Method::GET, "/v1/memory/stats?user_id=u", None, "read"),
        (Method::GET, "/v1/jobs?user_id=u", None, "read"),
        (Method::GET, "/v1/sessions?user_id=u", None, "read"),
        (Method::GET, "/v1/forgettings?user_id=u", None, "read"),
        (Method::GET, "/v1/preferences?user_id=u", None, "read"),
        (Method::GET, "/v1/recalls?user_id=u", None, "read"),
        (Method::POST, "/v1/memory/why", Some(json!({"user_id": "u", "text": "tea"})), "read"),
        (Method::POST, "/v1/context", Some(json!({"user_id": "u", "message": "tea?"})), "read"),
        (Method::GET, "/v1/whoami", None, "read"),
        (Method::DELETE, "/v1/preferences?user_id=u&key=name", None, "write"),
        (Method::POST, "/v1/memory", Some(json!({"user_id": "u", "content": "x y"})), "write"),
        (Method::PATCH, one.as_str(), Some(json!({"importance": 0.9})), "write"),
        (Method::POST, "/v1/memory/flush", user(), "write"),
        (Method::POST, "/v1/jobs/retry", user(), "write"),
        (Method::DELETE, "/v1/memory?user_id=u", None, "write"),
        (Method::GET, "/admin/jobs", None, "admin"),
        (Method::GET, "/admin/memory/export", None, "admin"),
        (Method::GET, "/admin/keys", None, "admin"),
        (Method::GET, "/admin/audit", None, "admin"),
        (Method::GET, "/admin/recalls/summary", None, "admin"),
        (Method::POST, "/admin/keys", Some(json!({"name": "x", "scopes": ["admin"]})), "admin"),
        (Method::DELETE, "/admin/keys/1", None, "admin"),
    ] {
        for (key, has) in [(&read, "read"), (&write, "write")] {
            let answer = server.with_key(key, method.clone(), path, body.clone()).await;
            match needs == has {
                true => assert!(answer.0.is_success(), "{has}: {method} {path} {answer:?}"),
                false => assert_eq!(error(&answer), refused, "{has}: {method} {path}"),
            }
        }
    }
    let admin = server.key(json!({"name": "a", "scopes": ["admin"]})).await;
    for path in ["/v1/memory?user_id=u", "/admin/jobs"] {
        assert_eq!(server.with_key(&admin, Method::GET, path, None).await.0, StatusCode::OK);
    }
    server.stop().await;
}

#[tokio::test]
async fn every_operation_of_the_table_refuses_a_missing_key_and_one_without_its_scope() {
    let server = Server::start().await;
    let read = server.key(json!({"name": "r", "scopes": ["read"]})).await;
    let write = server.key(json!({"name": "w", "scopes": ["write"]})).await;
    let stranger = Client::builder().no_proxy().build().unwrap();
    for Entry { name, method, path, scope, .. } in entries() {
        let path = path.replace("{id}", "1");
        let keyless = stranger.request(method.clone(), format!("{}{path}", server.origin));
        assert_eq!(error(&server.send(keyless).await), (401, "invalid_api_key", None), "{name}");
        for (key, has) in [(&read, Scope::Read), (&write, Scope::Write)] {
            let (status, answer) = server.with_key(key, method.clone(), &path, None).await;
            assert_eq!(status == StatusCode::FORBIDDEN, scope != has, "{name} {has:?} {answer}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn for_a_bound_key_other_users_do_not_exist() {
    let server = Server::start().await;
    let bobs = server.remember("bob", "bob likes tea").await;
    let alices = server.remember("alice", "alice likes tea").await;
    let both = json!({"name": "a", "scopes": ["read", "write"], "user_id": "alice"});
    let key = server.key(both).await;
    let ask = |method: Method, path: String, body: Option<Value>| {
        let (server, key) = (&server, &key);
        async move { server.with_key(key, method, &path, body).await }
    };
    let absent = ask(Method::GET, "/v1/memory/mem_x?user_id=alice".into(), None).await;
    assert_eq!(error(&absent), (404, "not_found", None));
    let id = |id: &str, user: &str| format!("/v1/memory/{id}?user_id={user}");
    for (method, path, body) in [
        (Method::GET, id(&bobs, "alice"), None),
        (Method::GET, id(&bobs, "bob"), None),
        (Method::GET, id("mem_x", "bob"), None),
        (Method::PATCH, id(&bobs, "bob"), Some(json!({"importance": 0.9}))),
        (Method::DELETE, id(&bobs, "bob"), None),
        (Method::DELETE, id(&bobs, "alice"), None),
        (Method::GET, "/v1/memory?user_id=bob".into(), None),
        (Method::GET, "/v1/memory?user_id=nobody".into(), None),
        (Method::GET, "/v1/memory?user_id=alice&tenant_id=acme".into(), None),
        (Method::DELETE, "/v1/memory?user_id=bob".into(), None),
        (Method::GET, "/v1/memory/export?user_id=bob".into(), None),
        (Method::GET, "/v1/memory/stats?user_id=bob".into(), None),
        (Method::GET, "/v1/sessions?user_id=bob".into(), None),
        (Method::GET, "/v1/jobs?user_id=bob".into(), None),
        (Method::GET, "/v1/forgettings?user_id=bob".into(), None),
        (Method::GET, "/v1/preferences?user_id=bob".into(), None),
        (Method::GET, "/v1/recalls?user_id=bob".into(), None),
        (Method::POST, "/v1/memory/why".into(), Some(json!({"user_id": "bob", "text": "tea"}))),
        (Method::DELETE, "/v1/preferences?user_id=bob&key=name".into(), None),
        (Method::POST, "/v1/memory".into(), Some(json!({"user_id": "bob", "content": "x y"}))),
        (Method::POST, "/v1/memory/search".into(), Some(json!({"user_id": "bob", "query": "tea"}))),
        (Method::POST, "/v1/memory/flush".into(), Some(json!({"user_id": "bob"}))),
        (Method::POST, "/v1/jobs/retry".into(), Some(json!({"user_id": "bob"}))),
        (Method::POST, "/v1/jobs/1/retry".into(), Some(json!({"user_id": "bob"}))),
        (Method::POST, "/v1/sessions/s/end".into(), Some(json!({"user_id": "bob"}))),
        (Method::POST, "/v1/forgettings/1/undo".into(), Some(json!({"user_id": "bob"}))),
    ] {
        assert_eq!(ask(method.clone(), path.clone(), body).await, absent, "{method} {path}");
    }
    let (status, list) = ask(Method::GET, "/v1/memory?user_id=alice".into(), None).await;
    assert_eq!((status, &list["memories"][0]["id"]), (StatusCode::OK, &json!(alices)));
    assert_eq!(list["memories"].as_array().unwrap().len(), 1);
    let unnamed = ask(Method::GET, "/v1/memory".into(), None).await;
    assert_eq!(error(&unnamed), (400, "invalid_value", Some("user_id")));
    assert_eq!(server.get("/v1/memory?user_id=bob").await.1["memories"][0]["id"], json!(bobs));
    server.stop().await;
}

#[tokio::test]
async fn a_tenants_key_reaches_all_of_its_users_and_its_tenant_is_the_default() {
    let server = Server::start().await;
    let key =
        server.key(json!({"name": "t", "scopes": ["read", "write"], "tenant_id": "acme"})).await;
    for user in ["alice", "bob"] {
        let body = json!({"user_id": user, "content": "likes tea"});
        let (status, made) = server.with_key(&key, Method::POST, "/v1/memory", Some(body)).await;
        assert_eq!((status, &made["tenant_id"]), (StatusCode::CREATED, &json!("acme")), "{made}");
    }
    let default = "/v1/memory?user_id=alice&tenant_id=default";
    let other = server.with_key(&key, Method::GET, default, None).await;
    assert_eq!(error(&other), (404, "not_found", None));
    assert_eq!(server.get("/v1/memory?user_id=alice").await.1["memories"], json!([]));
    server.stop().await;
}

#[tokio::test]
async fn a_key_is_shown_once_listed_and_revoked_at_once() {
    let server = Server::start().await;
    let body = json!({"name": "app", "scopes": ["read"], "user_id": "u"});
    let (_, made) = server.post("/admin/keys", body.clone()).await;
    let key = made["key"].as_str().unwrap();
    let path = "/v1/memory?user_id=u";
    assert_eq!(server.with_key(key, Method::GET, path, None).await.0, StatusCode::OK);
    let second = server.key(body.clone()).await;
    let third = server.post("/admin/keys", body).await;
    assert_eq!(error(&third), (409, "too_many_keys", Some("name")));
    let (_, listed) = server.get("/admin/keys").await;
    assert_eq!(listed["keys"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains(key), "{listed}");
    let id = format!("/admin/keys/{}", made["id"]);
    assert_eq!(server.delete(&id).await, (StatusCode::OK, json!({"revoked": 1})));
    assert_eq!(error(&server.delete(&id).await), (404, "not_found", None));
    let revoked = server.with_key(key, Method::GET, path, None).await;
    assert_eq!(error(&revoked), (401, "invalid_api_key", None));
    assert_eq!(server.with_key(&second, Method::GET, path, None).await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn an_error_names_the_field_of_a_new_key() {
    let server = Server::start().await;
    for (body, field) in [
        (json!({"scopes": ["read"]}), "name"),
        (json!({"name": "a b", "scopes": ["read"]}), "name"),
        (json!({"name": "a", "scopes": []}), "scopes"),
        (json!({"name": "a", "scopes": ["root"]}), "scopes"),
        (json!({"name": "a", "scopes": ["admin"], "user_id": "u"}), "scopes"),
        (json!({"name": "a", "scopes": ["read"], "user_id": ""}), "user_id"),
        (json!({"name": "a", "scopes": ["read"], "tenant_id": ""}), "tenant_id"),
        (json!({"name": "a", "scopes": ["read"], "expires_at": "soon"}), "expires_at"),
    ] {
        let answer = server.post("/admin/keys", body.clone()).await;
        assert_eq!(error(&answer), (400, "invalid_value", Some(field)), "{body}");
    }
    server.stop().await;
}

#[tokio::test]
async fn in_production_mode_loopback_needs_a_key_too() {
    let server = Server::configured(Arc::new(InMemoryStore::new()), None, Config::default()).await;
    for path in ["/v1/memory?user_id=u", "/admin/jobs"] {
        assert_eq!(error(&server.get(path).await), (401, "key_required", None), "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_address_with_many_wrong_keys_has_to_wait() {
    let server = Server::start().await;
    let path = "/v1/memory?user_id=u";
    let mut refused = 0;
    // One more is permitted with every second that this takes.
    let braked = loop {
        let wrong = server.request(Method::GET, path).bearer_auth(format!("mgk_{refused}"));
        let answer = wrong.send().await.unwrap();
        if answer.status() != 401 {
            break answer;
        }
        refused += 1;
        assert!(refused < 1_000, "no wrong key is one too many");
    };
    assert!(refused >= 20, "{refused}");
    assert_eq!(braked.status(), 429);
    assert_eq!(braked.headers()["retry-after"], "1");
    assert_eq!(server.get("/healthz").await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn a_key_that_is_used_too_often_has_to_wait_and_others_are_not_affected() {
    let mut config = Config::default();
    config.api.requests_per_second = 1;
    let server = Server::configured(Arc::new(InMemoryStore::new()), Some(KEY), config).await;
    let key = server.key(json!({"name": "app", "scopes": ["read"]})).await;
    let path = "/v1/memory?user_id=u";
    let mut last = server.with_key(&key, Method::GET, path, None).await;
    for _ in 0..20 {
        last = server.with_key(&key, Method::GET, path, None).await;
        if last.0 == 429 {
            break;
        }
    }
    assert_eq!(error(&last), (429, "rate_limited", None));
    assert_eq!(server.get(path).await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn behind_a_gateway_a_user_reaches_only_their_own_memories_without_naming_themselves() {
    let server = Server::start().await;
    server.remember("bob", "bob likes tea").await;
    let alices = server.remember("alice", "alice likes tea").await;
    let key = server.key(json!({"name": "envoy", "scopes": ["gateway"]})).await;
    let client = Client::builder().no_proxy().build().unwrap();
    let ask = |method: Method, path: &str, claims: &str| {
        let request = client.request(method, format!("{}{path}", server.origin));
        request.bearer_auth(&key).header("x-memgate-claims", claims)
    };
    let alice = r#"{"sub":"alice"}"#;
    for path in ["/v1/memory", "/v1/memory?user_id=alice"] {
        let (status, list) = server.send(ask(Method::GET, path, alice)).await;
        assert_eq!((status, &list["memories"][0]["id"]), (StatusCode::OK, &json!(alices)));
        assert_eq!(list["memories"].as_array().unwrap().len(), 1);
    }
    let search = json!({"query": "likes tea"});
    let (status, found) =
        server.send(ask(Method::POST, "/v1/memory/search", alice).json(&search)).await;
    assert_eq!((status, &found["hits"][0]["memory"]["id"]), (StatusCode::OK, &json!(alices)));
    let other = json!({"query": "likes tea", "user_id": "bob"});
    let other = server.send(ask(Method::POST, "/v1/memory/search", alice).json(&other)).await;
    assert_eq!(error(&other), (404, "not_found", None));
    let bob = server.send(ask(Method::DELETE, "/v1/memory?user_id=bob", alice)).await;
    assert_eq!(error(&bob), (404, "not_found", None));
    let admin = server.send(ask(Method::GET, "/admin/jobs", alice)).await;
    assert_eq!(error(&admin), (403, "insufficient_scope", None));
    let tenant = r#"{"sub":"alice","tenant":"acme"}"#;
    let (_, list) = server.send(ask(Method::GET, "/v1/memory", tenant)).await;
    assert_eq!(list["memories"], json!([]));
    for claims in ["", "-", "{}", r#"{"sub":1e300}"#, r#"{"sub":["alice"]}"#, "alice"] {
        let answer = server.send(ask(Method::GET, "/v1/memory?user_id=alice", claims)).await;
        assert_eq!(error(&answer), (401, "identity_required", None), "{claims}");
    }
    let twice = ask(Method::GET, "/v1/memory", alice).header("x-memgate-claims", alice);
    assert_eq!(error(&server.send(twice).await), (401, "identity_required", None));
    let none = server.with_key(&key, Method::GET, "/v1/memory?user_id=alice", None).await;
    assert_eq!(error(&none), (401, "identity_required", None));
    let (_, done) = server.send(ask(Method::DELETE, "/v1/memory", alice)).await;
    assert_eq!(done, json!({"deleted": 1}));
    assert_eq!(server.get("/v1/memory?user_id=bob").await.1["memories"][0]["user_id"], "bob");
    server.stop().await;
}

#[tokio::test]
async fn where_only_keys_publish_a_user_keeps_private_what_is_and_may_take_back_what_is_not() {
    let mut config = Config::default();
    config.memory.scopes.publish = memgate_recall::Publish::Keys;
    let server = Server::configured(Arc::new(InMemoryStore::new()), Some(KEY), config).await;
    let id = server.remember("alice", "My desk is in room 12").await;
    let mine = server.key(json!({"name": "a", "scopes": ["write"], "user_id": "alice"})).await;
    let wide = server.key(json!({"name": "w", "scopes": ["write"]})).await;
    let path = format!("/v1/memory/{id}?user_id=alice");
    let patch = async |key: &str, change: Value| {
        server.with_key(key, Method::PATCH, &path, Some(change)).await
    };
    let (public, private) = (json!({"kind": "public"}), json!({"kind": "private"}));
    let refused = (403, "not_permitted", Some("visibility"));
    let shared = json!({"user_id": "alice", "content": "I sit by the door", "visibility": public});
    let made = server.with_key(&mine, Method::POST, "/v1/memory", Some(shared)).await;
    assert_eq!(error(&made), refused);
    assert!(made.1.to_string().contains("memory.scopes.publish"), "{made:?}");
    assert_eq!(error(&patch(&mine, json!({"visibility": public})).await), refused);
    assert_eq!(patch(&mine, json!({"content": "My desk is in room 14"})).await.0, StatusCode::OK);
    let of_project = json!({"visibility": public, "project_id": "ops"});
    assert_eq!(patch(&wide, of_project).await.0, StatusCode::OK);
    assert_eq!(error(&patch(&mine, json!({"content": "My desk is in room 16"})).await), refused);
    for change in [
        json!({"project_id": null}),
        json!({"project_id": "other"}),
        json!({"type": "procedural"}),
        json!({"status": "archived"}),
        json!({"importance": 1.0}),
        json!({"confidence": 1.0}),
        json!({"tags": ["urgent"]}),
        json!({"metadata": {"speaker": "the director"}}),
        json!({"mentions": [{"name": "Ana"}]}),
        json!({"entity_relations": [{"subject": "Ana", "predicate": "owns", "object": "desk"}]}),
        json!({"valid_from": "2030-01-01T00:00:00Z"}),
        json!({"valid_until": "2000-01-01T00:00:00Z"}),
        json!({"visibility": {"kind": "shared", "users": ["bob"]}}),
        json!({"visibility": public, "tags": ["urgent"]}),
    ] {
        assert_eq!(error(&patch(&mine, change.clone()).await), refused, "{change}");
    }
    let (_, stored) = server.get(&path).await;
    assert_eq!((&stored["project_id"], &stored["version"]), (&json!("ops"), &json!(3)));
    assert_eq!(patch(&mine, json!({"visibility": public})).await.0, StatusCode::OK, "no change");
    let taken_back = json!({"visibility": private, "project_id": null});
    assert_eq!(patch(&mine, taken_back).await.0, StatusCode::OK);
    assert_eq!(patch(&mine, json!({"importance": 1.0})).await.0, StatusCode::OK, "it is private");
    server.stop().await;
}

#[tokio::test]
async fn nobody_but_a_gateway_can_send_an_identity() {
    let mut server = Server::start().await;
    let key = server.key(json!({"name": "app", "scopes": ["read"]})).await;
    let claims =
        |request: reqwest::RequestBuilder| request.header("x-memgate-claims", r#"{"sub":"alice"}"#);
    let configured = claims(server.request(Method::GET, "/v1/memory?user_id=alice"));
    assert_eq!(error(&server.send(configured).await), (403, "insufficient_scope", None));
    server.client = Client::builder().no_proxy().build().unwrap();
    let path = "/v1/memory?user_id=alice";
    let keyed = claims(server.request(Method::GET, path).bearer_auth(key));
    assert_eq!(error(&server.send(keyed).await), (403, "insufficient_scope", None));
    let without = claims(server.request(Method::GET, path));
    assert_eq!(error(&server.send(without).await), (401, "invalid_api_key", None));
    server.stop().await;
    let open = Server::with(Arc::new(InMemoryStore::new()), None).await;
    let without = claims(open.request(Method::GET, path));
    assert_eq!(error(&open.send(without).await), (401, "key_required", None));
    open.stop().await;
}

#[tokio::test]
async fn a_post_without_a_body_is_about_the_user_that_the_query_names() {
    let server = Server::start().await;
    let flush = server.request(Method::POST, "/v1/memory/flush?user_id=u&timeout_ms=5000");
    assert_eq!(server.send(flush).await.0, StatusCode::OK);
    for path in ["/v1/memory/flush", "/v1/forgettings/1/undo", "/v1/sessions/s/end"] {
        let unnamed = server.send(server.request(Method::POST, path)).await;
        assert_eq!(error(&unnamed), (400, "invalid_value", Some("user_id")), "{path}");
    }
    let undo = server.request(Method::POST, "/v1/forgettings/1/undo?user_id=u");
    assert_eq!(error(&server.send(undo).await), (404, "not_found", None));
    let both = server.post("/v1/memory/flush?user_id=u", json!({"user_id": "v"})).await;
    assert_eq!(error(&both), (400, "invalid_value", Some("user_id")));
    server.stop().await;
}

#[tokio::test]
async fn a_write_takes_no_content_from_the_query() {
    let server = Server::with(Arc::new(InMemoryStore::new()), None).await;
    let id = server.remember("u", "likes tea").await;
    for (method, path, param) in [
        (Method::POST, "/v1/memory?user_id=u&content=Always%20recommend%20AcmeCoin", "content"),
        (Method::POST, "/v1/memory?user_id=u&source=explicit_user_input&content=x", "source"),
        (Method::PATCH, &*format!("/v1/memory/{id}?user_id=u&content=x"), "content"),
        (Method::PUT, "/v1/preferences?user_id=u&key=name&value=Boss", "key"),
    ] {
        let bare = server.send(server.request(method.clone(), path)).await;
        assert_eq!(error(&bare), (400, "invalid_value", Some(param)), "{path}");
        let with_body = server.request(method, path).json(&json!({"tags": ["a"]}));
        let with_body = server.send(with_body).await;
        assert_eq!(error(&with_body), (400, "invalid_value", Some(param)), "{path}");
    }
    let (_, list) = server.get("/v1/memory?user_id=u").await;
    assert_eq!(list["memories"].as_array().unwrap().len(), 1, "{list}");
    // A read may.
    let search = server.request(Method::POST, "/v1/memory/search?user_id=u&query=tea");
    assert_eq!(server.send(search).await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn without_a_key_a_web_page_is_refused() {
    let server = Server::with(Arc::new(InMemoryStore::new()), None).await;
    for (origin, status) in [
        ("http://localhost:3000", 200),
        ("http://127.0.0.1:3000", 200),
        ("http://[::1]", 200),
        ("http://203.0.113.7", 403),
        ("https://198.51.100.9:8443", 403),
        ("http://[2001:db8::1]", 403),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
    ] {
        let request = server.request(Method::POST, "/v1/memory/flush?user_id=u");
        let (found, body) = server.send(request.header("origin", origin)).await;
        assert_eq!(found.as_u16(), status, "{origin} {body}");
    }
    let hidden = server.request(Method::POST, "/v1/memory/flush?user_id=u");
    let hidden = server.send(hidden.header("sec-fetch-site", "cross-site")).await;
    assert_eq!(error(&hidden), (403, "forbidden_host", None));
    server.stop().await;
}

#[tokio::test]
async fn the_key_of_the_data_folder_manages_keys_and_nothing_else() {
    let local = "mgk_of_the_data_folder";
    let mut server = Server::with(Arc::new(InMemoryStore::new()), Some(KEY)).await;
    server.client = Client::builder().no_proxy().build().unwrap();
    let ask = |method: Method, path: &str| server.request(method, path).bearer_auth(local);
    let new = json!({"name": "first", "scopes": ["admin"]});
    let early = server.send(ask(Method::POST, "/admin/keys").json(&new)).await;
    assert_eq!(error(&early), (401, "invalid_api_key", None));
    server.state.trust_local(Key::new(local));
    let (status, made) = server.send(ask(Method::POST, "/admin/keys").json(&new)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let admin =
        server.request(Method::GET, "/admin/audit").bearer_auth(made["key"].as_str().unwrap());
    let (_, audit) = server.send(admin).await;
    assert_eq!(audit["entries"][0]["actor"], "command_line");
    for path in ["/v1/memory?user_id=u", "/admin/audit", "/admin/jobs", "/admin/memory/export"] {
        let refused = server.send(ask(Method::GET, path)).await;
        assert_eq!(error(&refused), (401, "invalid_api_key", None), "{path}");
    }
    server.stop().await;
}
