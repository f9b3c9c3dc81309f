//! Tests the real router on a free port, with an in-memory store and an embedder without a model.

mod access;
mod asking;
mod audit;
mod dashboard;
mod entities;
mod filters;
mod guard;
mod health;
mod imported;
mod journal;
mod learning;
mod long_texts;
mod memories;
mod names;
mod preferences;
mod records;
mod rehearsal;
mod sessions;
mod trail;
mod transfer;

use std::{path::Path, sync::Arc, time::Duration};

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::api::*;
use memgate_access::{Access, Retention as AuditRetention};
use memgate_capture::Settings;
use memgate_config::{Config, IdentityMode, Live, TrailConfig};
use memgate_core::{
    clock::Clock,
    memory::{MemoryStore, Owner},
};
use memgate_recall::{LoopKey, TrailSettings};
use memgate_sqlite::Options;
use memgate_store::{InMemoryStore, MonitoredStore};
use memgate_telemetry::Metrics;
use memgate_testing::{World, WorldOptions};

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// The entries of the table.
fn entries() -> Vec<Entry> {
    struct Entries(Vec<Entry>);
    impl Visitor for Entries {
        fn visit<O: Operation>(&mut self) {
            self.0.push(O::ENTRY);
        }
    }
    let mut entries = Entries(Vec::new());
    table::visit(&mut entries);
    entries.0
}

struct Server {
    origin: String,
    client: Client,
    operations: Operations,
    state: ApiState,
    /// The journal's folder, removed when the test ends.
    _folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<io::Result<()>>,
}

impl Server {
    /// The client sends the key.
    async fn start() -> Self {
        Self::with(Arc::new(InMemoryStore::new()), Some(KEY)).await
    }

    async fn with(store: Arc<dyn MemoryStore>, key: Option<&str>) -> Self {
        let mut config = Config::default();
        if key.is_none() {
            config.memory.identity.mode = IdentityMode::Development;
        }
        Self::configured(store, key, config).await
    }

    async fn configured(store: Arc<dyn MemoryStore>, key: Option<&str>, config: Config) -> Self {
        // Another test may have installed it first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let operations = operations(store, folder.path(), config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let state = ApiState::new(operations.config.clone(), operations.metrics.clone());
        state.open(operations.clone());
        let router = router(state.clone(), key.map(Key::new));
        let served = tokio::spawn(serve(listener, router, async {
            let _ = stopped.await;
        }));
        let mut headers = reqwest::header::HeaderMap::new();
        if let Some(key) = key {
            headers.insert("authorization", format!("Bearer {}", key.trim()).parse().unwrap());
        }
        let client = Client::builder().no_proxy().default_headers(headers).build().unwrap();
        Self { origin, client, operations, state, _folder: folder, stop: Some(stop), served }
    }

    async fn stop(mut self) {
        drop(self.client);
        let _ = self.stop.take().unwrap().send(());
        self.served.await.unwrap().unwrap();
        self.operations.capture.shutdown(Duration::from_secs(5)).await;
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.origin))
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> (StatusCode, Value) {
        let answer = request.send().await.unwrap();
        let status = answer.status();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send(self.request(Method::GET, path)).await
    }

    async fn delete(&self, path: &str) -> (StatusCode, Value) {
        self.send(self.request(Method::DELETE, path)).await
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(self.request(Method::POST, path).json(&body)).await
    }

    async fn put(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    async fn patch(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.send(self.request(Method::PATCH, path).json(&body)).await
    }

    /// Stores a memory and returns its id.
    async fn remember(&self, user: &str, content: &str) -> String {
        let body = json!({"user_id": user, "content": content});
        let (status, memory) = self.post("/v1/memory", body).await;
        assert_eq!(status, StatusCode::CREATED, "{memory}");
        memory["id"].as_str().unwrap().to_owned()
    }
}

fn operations(store: Arc<dyn MemoryStore>, folder: &Path, config: Config) -> Operations {
    let (access, metrics) = (open_access(folder), Metrics::new());
    let TrailConfig { requests, content, .. } = config.memory.trail;
    let options = WorldOptions {
        store: Arc::new(MonitoredStore::new(store, "Store", metrics.clone())),
        settings: Settings { extract_locally: true, ..Settings::default() },
        audit: access.audit.clone(),
        trail: Some(TrailSettings { requests, bytes: TrailConfig::MAX_BYTES, content }),
        metrics,
        ..WorldOptions::default()
    };
    let World { store, embedder, recall, capture, metrics, clock, .. } =
        World::open(folder, options);
    Operations {
        config: Live::fixed(config),
        rehearsal: recall.rehearsal(),
        recall,
        capture,
        access,
        store,
        embedder,
        texts: TextWork::new(metrics.clone()),
        metrics,
        clock,
        streams: Streams::new(tokio_util::sync::CancellationToken::new()),
    }
}

fn open_access(folder: &Path) -> Access {
    let file = folder.join("access.db");
    let retention = AuditRetention { age: Duration::from_secs(3600), entries: 1000 };
    // Tests of one thread cannot block on the runtime from within it.
    std::thread::scope(|scope| {
        let runtime = tokio::runtime::Handle::current();
        let open = scope.spawn(move || {
            let _entered = runtime.enter();
            Access::open(&file, Options::default(), retention, Clock::System).unwrap()
        });
        open.join().unwrap()
    })
}

/// Status, code and param of an error response.
fn error(answer: &(StatusCode, Value)) -> (u16, &str, Option<&str>) {
    let (status, body) = answer;
    let error = &body["error"];
    let members: Vec<_> = error.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["code", "message", "param", "type"], "{body}");
    assert!(!error["message"].as_str().unwrap().is_empty());
    (status.as_u16(), error["code"].as_str().unwrap(), error["param"].as_str())
}
