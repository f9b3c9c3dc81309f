//! A model server over HTTP: JSON requests with a deadline, and a circuit breaker that protects a
//! failing server.
//!
//! It does not interpret or log requests and responses, and does not retry; callers that can wait
//! do.

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

/// Timeout for connecting; the rest of the deadline is for the model.
const CONNECT: Duration = Duration::from_secs(5);

/// Maximum number of idle connections.
const IDLE_CONNECTIONS: usize = 4;

/// Address of a model server.
#[derive(Clone)]
pub struct Address {
    /// URL that requests are posted to.
    pub url: String,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
}

impl fmt::Debug for Address {
    /// Omits the key.
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
    /// Creates a client for a server; its cooldown after failures is at most `max_cooldown`.
    /// Installs the process's TLS provider if there is none yet.
    ///
    /// # Errors
    /// When the HTTP client cannot be built, with the cause.
    pub fn new(address: Address, max_cooldown: Duration) -> Result<Self, reqwest::Error> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // Requests and the key are only for the configured server.
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .user_agent(concat!("memgate/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, address, breaker: Arc::new(Breaker::new(max_cooldown)) })
    }

    /// The remaining cooldown while the circuit breaker is open; zero when a trial request is due.
    #[must_use]
    pub fn cooldown(&self) -> Option<Duration> {
        self.breaker.cooldown(Instant::now())
    }

    /// Posts one request, unless the circuit breaker is open. The response has at most `most_bytes`
    /// and must arrive within `deadline`, including the connection.
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
            self.breaker.enter(Instant::now()).map_err(|wait| RemoteError::CoolingDown { wait })?;
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

/// In seconds, as model servers send it; dates are ignored.
fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Only the kind of an error, because its text contains the address and more.
fn describe(error: &reqwest::Error, deadline: Duration) -> RemoteError {
    if error.is_timeout() {
        RemoteError::Timeout { after: deadline }
    } else if error.is_connect() {
        RemoteError::Unreachable("cannot connect")
    } else if error.is_builder() {
        RemoteError::Unreachable("the address or the key is invalid")
    } else {
        RemoteError::Unreachable("connection lost")
    }
}
