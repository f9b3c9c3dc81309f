//! Texts that take long, and texts that panic: each costs its own request only.

use futures_util::FutureExt;

use crate::{api::tests::*, injected::PANICS};
use memgate_testing::{FaultyStore, Mode};

impl Server {
    fn shows(&self, line: &str) {
        let metrics = self.operations.metrics.encode();
        assert!(metrics.lines().any(|shown| shown == line), "no {line} in {metrics}");
    }
}

#[tokio::test]
async fn a_text_that_panics_is_answered_with_500_in_openais_shape() {
    let server = Server::start().await;
    for words in ["", &"Ik woon in Gent. ".repeat(1000), &"我住在里昂。".repeat(1000)] {
        let body = json!({"user_id": "alice", "content": format!("{words}{PANICS}")});
        let answer = server.post("/v1/memory", body).await;
        assert_eq!(error(&answer), (500, "internal_error", None));
        assert!(!answer.1.to_string().contains(PANICS));
    }
    server.shows("memgate_panics_total{part=\"api\"} 3");
    server.remember("alice", "I live in Gent").await;
    server.stop().await;
}

#[tokio::test]
async fn a_panic_of_the_store_is_answered_with_500_and_the_next_request_is_served() {
    let store = FaultyStore::new(Arc::new(InMemoryStore::new()), Mode::Works);
    let server = Server::with(store.clone(), Some(KEY)).await;
    store.set(Mode::Panics);
    for _ in 0..3 {
        let answer = server.get("/v1/memory?user_id=alice").await;
        assert_eq!(error(&answer), (500, "internal_error", None));
    }
    store.set(Mode::Works);
    assert_eq!(server.get("/v1/memory?user_id=alice").await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn an_imported_line_that_panics_is_refused_with_its_number_and_the_others_are_imported() {
    let (from, server) = (Server::start().await, Server::start().await);
    for content in ["I live in Gent", "Ich wohne in Wien", "我住在里昂", "Vivo em Lisboa"] {
        from.remember("alice", content).await;
    }
    let export = from.request(Method::GET, "/v1/memory/export?user_id=alice");
    let lines = export.send().await.unwrap().text().await.unwrap();
    let lines = lines.replace("Ich wohne", PANICS).replace("Vivo", PANICS);
    let numbers = (1..).zip(lines.lines()).filter(|(_, line)| line.contains(PANICS));
    let numbers: Vec<u64> = numbers.map(|(number, _)| number).collect();
    let request = server.request(Method::POST, "/v1/memory/import?user_id=alice");
    let request = request.header("content-type", "application/x-ndjson").body(lines);
    let (status, view) = server.send(request).await;
    assert_eq!(
        (status, &view["written"], &view["refused"]),
        (StatusCode::OK, &json!(2), &json!(2))
    );
    let problems = view["problems"].as_array().unwrap();
    let named: Vec<u64> = problems.iter().filter_map(|it| it["line"].as_u64()).collect();
    assert_eq!(named, numbers);
    assert!(!view.to_string().contains(PANICS));
    server.shows("memgate_panics_total{part=\"import\"} 2");
    from.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn long_texts_wait_for_each_other_and_nothing_else_waits_for_them() {
    let server = Server::start().await;
    let id = server.remember("alice", "I live in Lyon").await;
    let turns = server.operations.texts.turns().clone();
    let all = turns.clone().acquire_many_owned(turns.available_permits() as u32).await.unwrap();
    let long = "Ich habe heute den Zaun gestrichen. ".repeat(800);
    let memory = format!("/v1/memory/{id}?user_id=alice");
    let create = server.post("/v1/memory", json!({"user_id": "mallory", "content": long}));
    let change = server.patch(&memory, json!({"content": long}));
    let mut slow = Box::pin(async { tokio::join!(create, change) });
    let others = async {
        assert_eq!(server.get("/healthz").await.0, StatusCode::OK);
        server.remember("bob", "I live in Rome").await;
        let query = json!({"user_id": "bob", "query": "Where do I live?"});
        assert_eq!(server.post("/v1/memory/search", query).await.0, StatusCode::OK);
    };
    tokio::select! {
        biased;
        _ = &mut slow => panic!("long texts wait for their turn"),
        () = others => {}
    }
    assert!((&mut slow).now_or_never().is_none());
    drop(all);
    let ((created, _), (changed, _)) = slow.await;
    assert_eq!((created, changed), (StatusCode::CREATED, StatusCode::OK));
    server.stop().await;
}
