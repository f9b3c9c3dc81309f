//! A model server over HTTP: one JSON request, the bytes of its answer, a deadline, and a circuit
//! breaker that leaves a server in trouble alone.
//!
//! It must never know what is asked or answered, and nothing of either is ever logged. It does not
//! retry; whoever can wait does that.

mod breaker;
mod error;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use http::header::RETRY_AFTER;
use serde::Serialize;

use breaker::Breaker;
pub use error::RemoteError;

/// How long the connection itself may take; the rest of the deadline is the model's.
const CONNECT: Duration = Duration::from_secs(5);

/// Connections kept open while nothing is asked.
const IDLE_CONNECTIONS: usize = 4;

/// Where a model server is.
#[derive(Clone)]
pub struct Address {
    /// What requests are posted to.
    pub url: String,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
}

impl fmt::Debug for Address {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.url).finish()
    }
}

/// One model server.
pub struct Remote {
    http: reqwest::Client,
    address: Address,
    breaker: Arc<Breaker>,
}

impl Remote {
    /// A client for a server. After failures it is left alone for at most `longest_rest` at a
    /// time. Installs the process's TLS provider, where nobody has yet.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, with the cause.
    pub fn new(address: Address, longest_rest: Duration) -> Result<Self, reqwest::Error> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // What was asked of one server, with its key, is not told to another.
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .user_agent(concat!("memgate/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, address, breaker: Arc::new(Breaker::new(longest_rest)) })
    }

    /// While the server is left alone: how long until it is tried again, zero when that is due.
    #[must_use]
    pub fn rest(&self) -> Option<Duration> {
        self.breaker.rest(Instant::now())
    }

    /// Posts one request, unless the server is left alone just now. The answer has at most
    /// `most_bytes` and comes within `deadline`, connection included.
    ///
    /// # Errors
    /// [`RemoteError`].
    pub async fn post(
        &self,
        body: &(impl Serialize + ?Sized),
        deadline: Duration,
        most_bytes: usize,
    ) -> Result<Vec<u8>, RemoteError> {
        let permit =
            self.breaker.enter(Instant::now()).map_err(|wait| RemoteError::Resting { wait })?;
        let outcome = self.send(body, deadline, most_bytes).await;
        match &outcome {
            Err(error) if error.is_trouble() => permit.failed(Instant::now(), error.retry_after()),
            _ => permit.succeeded(),
        }
        outcome
    }

    async fn send(
        &self,
        body: &(impl Serialize + ?Sized),
        deadline: Duration,
        most_bytes: usize,
    ) -> Result<Vec<u8>, RemoteError> {
        let describe = |error: reqwest::Error| describe(&error, deadline);
        let mut post = self.http.post(&self.address.url).timeout(deadline).json(body);
        if let Some(key) = &self.address.api_key {
            post = post.bearer_auth(key);
        }
        let mut response = post.send().await.map_err(describe)?;
        if !response.status().is_success() {
            let code = response.status().as_u16();
            return Err(RemoteError::Status { code, retry_after: retry_after(&response) });
        }
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(describe)? {
            if answer.len() + chunk.len() > most_bytes {
                return Err(RemoteError::TooLarge { most_bytes });
            }
            answer.extend_from_slice(&chunk);
        }
        Ok(answer)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.address).finish()
    }
}

/// Seconds, as model servers say it; a date is not read.
fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The kind of an error only: its text holds the address and more.
fn describe(error: &reqwest::Error, deadline: Duration) -> RemoteError {
    if error.is_timeout() {
        RemoteError::Timeout { after: deadline }
    } else if error.is_connect() {
        RemoteError::Unreachable("no connection")
    } else if error.is_builder() {
        RemoteError::Unreachable("its address or its key cannot be used")
    } else {
        RemoteError::Unreachable("the connection broke")
    }
}
