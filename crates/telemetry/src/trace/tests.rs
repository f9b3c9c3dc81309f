use std::time::Instant;

use axum::{Router, body::Bytes as Body, http::StatusCode, routing::post};
use tokio::{net::TcpListener, sync::mpsc};
use tracing_subscriber::layer::SubscriberExt;

use crate::trace::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Long enough for a machine that does much else; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A collector that answers with `status` and forwards the requests it receives.
async fn collector(status: StatusCode) -> (String, mpsc::Receiver<Body>) {
    let (sender, receiver) = mpsc::channel(16);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let app = Router::new().route(
        "/v1/traces",
        post(move |body: Body| async move {
            let _ = sender.send(body).await;
            status
        }),
    );
    tokio::spawn(async move { axum::serve(listener, app).await });
    (endpoint, receiver)
}

/// Receives the next body that reaches the collector.
async fn next(received: &mut mpsc::Receiver<Body>) -> Body {
    tokio::time::timeout(PATIENCE, received.recv()).await.unwrap().unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn holds(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

fn exporter(endpoint: &str) -> Exporter {
    // Another test may have installed it first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Exporter::start(endpoint).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_span_joins_the_trace_of_the_request_and_reaches_the_collector() {
    let (endpoint, mut received) = collector(StatusCode::OK).await;
    let exporter = exporter(&endpoint);
    let subscriber = tracing_subscriber::registry().with(exporter.layer());
    tracing::subscriber::with_default(subscriber, || {
        let span = tracing::info_span!("exchange", decision = "searched");
        join_trace(&span, Some(&format!("00-{TRACE}-{PARENT}-01")), None);
        span.in_scope(|| drop(tracing::info_span!("search").entered()));
    });
    exporter.shutdown(PATIENCE).await;
    let body = next(&mut received).await;
    assert!(holds(&body, &hex(TRACE)), "the client's trace");
    assert!(holds(&body, &hex(PARENT)), "the client's span as parent");
    assert!(holds(&body, b"exchange") && holds(&body, b"search"), "both spans");
    assert!(holds(&body, b"memgate"), "the service's name");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_malformed_traceparent_starts_a_new_trace() {
    let (endpoint, mut received) = collector(StatusCode::OK).await;
    let exporter = exporter(&endpoint);
    let subscriber = tracing_subscriber::registry().with(exporter.layer());
    tracing::subscriber::with_default(subscriber, || {
        let span = tracing::info_span!("exchange");
        join_trace(&span, Some(&format!("00-{TRACE}-zzzz-01")), None);
        drop(span.entered());
    });
    exporter.shutdown(PATIENCE).await;
    let body = next(&mut received).await;
    assert!(holds(&body, b"exchange"));
    assert!(!holds(&body, &hex(TRACE)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unavailable_collector_delays_neither_spans_nor_shutdown() {
    let (refusing, _received) = collector(StatusCode::SERVICE_UNAVAILABLE).await;
    // Bound and dropped again, so that nothing listens on the port.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for endpoint in [refusing, format!("http://{free}/v1/traces")] {
        let exporter = exporter(&endpoint);
        let subscriber = tracing_subscriber::registry().with(exporter.layer());
        let began = Instant::now();
        tracing::subscriber::with_default(subscriber, || {
            // Three times the capacity of the queue.
            for _ in 0..3 * QUEUE {
                drop(tracing::info_span!("exchange").entered());
            }
        });
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        let began = Instant::now();
        exporter.shutdown(Duration::from_secs(2)).await;
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn refuses_an_invalid_endpoint() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    assert!(Exporter::start("not a url").is_err());
}
