//! Tests the embedder against a server that answers as each test wants.

use std::{
    net::SocketAddr,
    sync::Mutex,
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};

use crate::{Run, remote::*};

type Answer = Box<dyn Fn(usize, &Value) -> Response + Send + Sync>;

/// A server and the requests it received.
struct Server {
    at: SocketAddr,
    asked: Mutex<Vec<(HeaderMap, Value)>>,
    /// By the number of the request, from 0, and its body; without an answer it hangs.
    answer: Mutex<Option<Answer>>,
}

impl Server {
    async fn start(
        answer: impl Fn(usize, &Value) -> Response + Send + Sync + 'static,
    ) -> Arc<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Arc::new(Self {
            at: listener.local_addr().unwrap(),
            asked: Mutex::default(),
            answer: Mutex::new(Some(Box::new(answer))),
        });
        let app = Router::new().route("/v1/embeddings", post(serve)).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().iter().map(|(_, body)| body.clone()).collect()
    }

    fn embedder(&self, dimension: usize) -> RemoteEmbedder {
        self.embedder_within(Duration::from_secs(10), dimension)
    }

    fn embedder_within(&self, timeout: Duration, dimension: usize) -> RemoteEmbedder {
        embedder(self.at, Provider::Openai, dimension, timeout)
    }
}

async fn serve(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let answered = {
        let mut asked = server.asked.lock().unwrap();
        asked.push((headers, body.clone()));
        server.answer.lock().unwrap().as_ref().map(|answer| answer(asked.len() - 1, &body))
    };
    match answered {
        Some(answer) => answer,
        None => std::future::pending().await,
    }
}

fn embedder(
    at: SocketAddr,
    provider: Provider,
    dimension: usize,
    timeout: Duration,
) -> RemoteEmbedder {
    RemoteEmbedder::new(RemoteSettings {
        address: Address { url: format!("http://{at}/v1/embeddings"), api_key: Some("k".into()) },
        provider,
        model: "m".into(),
        space: Space {
            model: "openai/m".into(),
            dimension,
            run: Run::Remote,
            query_prefix: "q: ".into(),
            passage_prefix: "p: ".into(),
        },
        timeout,
    })
    .unwrap()
}

fn texts(body: &Value) -> Vec<&str> {
    body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Vectors that point to the length of their text, of the requested dimension or else 4; in reverse
/// order.
fn vectors(body: &Value) -> Response {
    let size = body["dimensions"].as_u64().unwrap_or(4) as usize;
    let mut data: Vec<Value> = texts(body)
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let mut vector = vec![1.0; size];
            vector[0] = text.len() as f64;
            json!({"index": index, "embedding": vector})
        })
        .collect();
    data.reverse();
    Json(json!({"data": data})).into_response()
}

fn expected(length: usize) -> Vector {
    let mut vector = vec![length as f32, 1.0, 1.0, 1.0];
    crate::normalise(&mut vector).unwrap();
    vector.into()
}

fn passages(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn sends_a_hundred_texts_per_request_and_keeps_their_order() {
    let server = Server::start(|_, body| vectors(body)).await;
    let many: Vec<String> = (0..250).map(|n| "x".repeat(n)).collect();
    let found = server.embedder(4).embed_passages(many).await.unwrap();
    // The first is empty and is sent as ".".
    let lengths = std::iter::once(1).chain(1..250).map(|length| expected("p: ".len() + length));
    assert_eq!(found, lengths.collect::<Vec<_>>());
    let sizes: Vec<_> = server.asked().iter().map(|body| texts(body).len()).collect();
    assert_eq!(sizes, [100, 100, 50]);
}

#[tokio::test]
async fn sends_the_key_and_the_prefixes() {
    let server = Server::start(|_, body| vectors(body)).await;
    let embedder = server.embedder(4);
    assert_eq!(embedder.embed_query("Why?").await.unwrap(), expected("q: Why?".len()));
    embedder.embed_passages(passages(&["So."])).await.unwrap();
    let sent: Vec<_> = server.asked().iter().map(|body| texts(body)[0].to_owned()).collect();
    assert_eq!(sent, ["q: Why?", "p: So."]);
    let asked = server.asked.lock().unwrap();
    assert!(asked.iter().all(|(headers, _)| headers["authorization"] == "Bearer k"));
}

#[tokio::test]
async fn requests_another_dimension_once_it_is_needed() {
    let server = Server::start(|_, body| vectors(body)).await;
    let embedder = server.embedder(2);
    for _ in 0..2 {
        assert_eq!(embedder.embed_query("a").await.unwrap().len(), 2);
    }
    let sizes: Vec<_> = server.asked().iter().map(|body| body["dimensions"].clone()).collect();
    assert_eq!(sizes, [Value::Null, json!(2), json!(2)]);
}

#[tokio::test]
async fn refuses_a_model_of_a_fixed_other_dimension() {
    let own = |_: usize, body: &Value| match body["dimensions"] {
        Value::Null => vectors(body),
        _ => StatusCode::BAD_REQUEST.into_response(),
    };
    let ignoring = |_: usize, body: &Value| {
        let mut body = body.clone();
        body.as_object_mut().unwrap().remove("dimensions");
        vectors(&body)
    };
    for server in [Server::start(own).await, Server::start(ignoring).await] {
        let error = server.embedder(2).check().await.unwrap_err();
        let wrong = EmbedError::Dimension { model: "openai/m".into(), configured: 2, found: 4 };
        assert_eq!(error, wrong);
    }
}

#[tokio::test]
async fn retries_temporary_failures() {
    let server = Server::start(|number, body| match number {
        0 => StatusCode::BAD_GATEWAY.into_response(),
        1 => (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "1")]).into_response(),
        _ => vectors(body),
    })
    .await;
    let started = Instant::now();
    server.embedder(4).embed_passages(passages(&["a"])).await.unwrap();
    assert_eq!(server.asked().len(), 3);
    assert!(started.elapsed() >= Duration::from_secs(1), "it came back when it was told to");
}

#[tokio::test]
async fn a_long_retry_after_is_respected() {
    let server = Server::start(|_, _| {
        (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "3600")]).into_response()
    })
    .await;
    let embedder = server.embedder(4);
    for _ in 0..3 {
        let error = embedder.embed_passages(passages(&["a"])).await.unwrap_err();
        assert!(matches!(error, EmbedError::Unavailable(_)), "{error}");
    }
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_wrong_key_is_reported_as_the_cause() {
    let server = Server::start(|_, _| StatusCode::UNAUTHORIZED.into_response()).await;
    let error = server.embedder(4).check().await.unwrap_err();
    assert!(error.to_string().ends_with("status 401: the key is missing or wrong"), "{error}");
    assert!(!error.may_be_the_text());
}

/// Rejects texts of more than 1000 bytes and those with "bad" in them.
fn picky(_: usize, body: &Value) -> Response {
    if texts(body).iter().any(|text| text.len() > 1000 || text.contains("bad")) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    vectors(body)
}

#[tokio::test]
async fn only_a_text_that_is_too_long_is_truncated() {
    let server = Server::start(picky).await;
    let texts = vec!["a".into(), "語".repeat(1000), "bcd".into()];
    let found = server.embedder(4).embed_passages(texts).await.unwrap();
    assert_eq!((&found[0], &found[2]), (&expected(4), &expected(6)));
}

#[tokio::test]
async fn a_rejected_text_fails_the_call_and_is_not_quoted() {
    let server = Server::start(picky).await;
    let error = server.embedder(4).embed_passages(passages(&["a", "bad"])).await.unwrap_err();
    assert_eq!(error, EmbedError::Refused("status 400".into()));
    // Together, then each alone.
    assert_eq!(server.asked().len(), 3);
}

/// Waits until `condition` holds; a minute is far more than it takes.
async fn until(mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap();
}

#[tokio::test]
async fn a_hanging_server_gets_a_cooldown_and_recovers() {
    let server = Server::start(|_, body| vectors(body)).await;
    let answering = server.answer.lock().unwrap().take();
    let embedder = server.embedder_within(Duration::from_millis(300), 4);
    let began = Instant::now();
    // Each caller gives up long before the server's timeout, as recall does.
    for _ in 0..3 {
        let impatient = tokio::time::timeout(Duration::from_millis(20), embedder.embed_query("a"));
        assert!(impatient.await.is_err());
    }
    until(async || embedder.client.server.cooldown().is_some()).await;
    let asked = server.asked().len();
    let error = embedder.embed_query("a").await.unwrap_err();
    assert!(matches!(error, EmbedError::Unavailable(_)), "{error}");
    let error = embedder.embed_passages(passages(&["a"])).await.unwrap_err();
    assert!(matches!(error, EmbedError::Unavailable(_)), "{error}");
    // But for the trials when the cooldowns, of two seconds and more, end on a machine that does much else.
    let trials = server.asked().len() - asked;
    assert!(trials as u64 <= began.elapsed().as_secs() / 2, "it is left alone: {trials}");
    *server.answer.lock().unwrap() = answering;
    until(async || embedder.embed_query("a").await.is_ok()).await;
}

#[tokio::test]
async fn checks_of_a_working_server_reuse_recent_responses() {
    let server = Server::start(|_, body| vectors(body)).await;
    let embedder = server.embedder(4);
    for _ in 0..3 {
        embedder.check().await.unwrap();
    }
    assert_eq!(server.asked().len(), 1);
    *server.answer.lock().unwrap() = Some(Box::new(|_, _| StatusCode::OK.into_response()));
    embedder.embed_query("other").await.unwrap_err();
    assert!(embedder.check().await.is_err(), "what failed since is looked at again");
}

#[tokio::test]
async fn after_close_requests_are_refused() {
    let server = Server::start(|_, body| vectors(body)).await;
    *server.answer.lock().unwrap() = None;
    let embedder = server.embedder(4);
    let (waiting, ()) = tokio::join!(embedder.embed_query("a"), async {
        until(async || !server.asked().is_empty()).await;
        embedder.close().await;
    });
    assert_eq!(waiting, Err(EmbedError::Closed));
    assert_eq!(embedder.embed_passages(passages(&["a"])).await, Err(EmbedError::Closed));
}
